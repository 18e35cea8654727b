"""What of the settings is said in two places."""

from django.conf import settings
from django.contrib.auth.password_validation import MinimumLengthValidator, get_default_password_validators

from annotate import forms


def test_form_and_validator_want_a_password_of_one_length():
    (validator,) = (one for one in get_default_password_validators() if isinstance(one, MinimumLengthValidator))
    assert validator.min_length == settings.PASSWORD_MIN_LENGTH == forms.MIN_PASSWORD == 10
