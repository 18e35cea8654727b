"""The faults of the reliability table, on an installation of its own with people who keep a ledger.

`place.py` is the installation, `people.py` those who label, `proxy.py` what stands between them and it, `after.py` what
came of it. Each test is marked with the number of its fault, and how often it happens is for `often` to say
(conftest.py): a few times in every run of the tests, as often as is promised in `./run prove`.
"""
