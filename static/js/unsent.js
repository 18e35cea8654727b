// Unsent work in this browser, under person, item, the annotation it is written on, and window. A copy remembers the
// number of the draft it goes on from, so that it never overwrites a newer one without being asked.
const ALL = "sightline:unsent:";

function windowName() {
  try {
    const name = sessionStorage.getItem("sightline:window") || randomKey();
    sessionStorage.setItem("sightline:window", name);
    return name;
  } catch { return "only"; }
}

export function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(18));
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_");
}

export function hasUnsent() {
  try { return Object.keys(localStorage).some((place) => place.startsWith(ALL)); } catch { return false; }
}

export class Unsent {
  constructor(person, item, number) {
    this.item = `${ALL}${person}:${item}:`;
    this.number = number;
    this.place = this.placeOn(number);
  }

  placeOn(number) {
    return `${this.item}${number}:${windowName()}`;
  }

  keep(base, fields) {
    this.write(this.place, { base, fields });
  }

  write(place, copy) {
    try { localStorage.setItem(place, JSON.stringify(copy)); } catch { /* storage is off or full: the page still has it */ }
  }

  forget(place = this.place) {
    try { localStorage.removeItem(place); } catch { /* nothing was kept */ }
  }

  // The copy of this window, else one of a window that was closed: {place, base, fields}, or null.
  find() {
    try {
      const places = Object.keys(localStorage).filter((place) => place.startsWith(`${this.item}${this.number}:`));
      const place = places.includes(this.place) ? this.place : places[0];
      return place ? { place, ...JSON.parse(localStorage.getItem(place)) } : null;
    } catch { return null; }
  }

  // The answer it was written on has become another: the work goes on there, as the newest there is.
  moveTo(number, fields) {
    this.write(this.placeOn(number), { base: Number.MAX_SAFE_INTEGER, fields });
    this.forget();
  }
}
