"""Canonical JSON (RFC 8785 with exact integers), written from docs/format.md alone.

Deliberately shares nothing with the library: it is what the library's checksums are checked with.
"""

import decimal
import json

# Enough to compare any number that a double can come near to.
_EXACT = decimal.Context(prec=2000, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
_FIXED_DIGITS_MAX = 21
_FIXED_ZEROS_MAX = 6
_SHORT_ESCAPES = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}
_ESCAPES = {
    code: _SHORT_ESCAPES.get(code, f"\\u{code:04x}") for code in (*range(32), 34, 92)
}


class Integer(str):
    """The token of a number without point and exponent."""


class Real(str):
    """The token of any other number."""


def _object(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("an object has a member twice")
    return members


def _refuse(token):
    raise ValueError(f"{token} is not JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=Integer, parse_float=Real, parse_constant=_refuse
)


def parse(text):
    """JSON with the numbers as they were written."""
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    value, end = _DECODER.raw_decode(text.strip(" \t\r\n"))
    if end != len(text.strip(" \t\r\n")):
        raise ValueError("something follows the JSON value")
    return value


def ecmascript(number):
    """Number::toString of ECMAScript, of a finite double."""
    if number == 0:
        return "0"
    sign, digits, exponent = decimal.Decimal(repr(number)).normalize(_EXACT).as_tuple()
    text = "".join(map(str, digits))
    k, n = len(text), len(text) + exponent
    if k <= n <= _FIXED_DIGITS_MAX:
        text += "0" * (n - k)
    elif 0 < n <= _FIXED_DIGITS_MAX:
        text = text[:n] + "." + text[n:]
    elif -_FIXED_ZEROS_MAX < n <= 0:
        text = "0." + "0" * -n + text
    else:
        mantissa = text[0] + ("." + text[1:] if k > 1 else "")
        text = f"{mantissa}e{'+' if n > 0 else '-'}{abs(n - 1)}"
    return ("-" if sign else "") + text


def number_text(token):
    """The canonical form of a number's token."""
    number = float(token)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{token[:40]} is larger than a double can be")
    text = ecmascript(number)
    if isinstance(token, Integer) and _EXACT.create_decimal(text) != _EXACT.create_decimal(token):
        return str(token)
    return text


def string_text(text):
    return '"' + text.translate(_ESCAPES) + '"'


def canonical(value):
    """The canonical text of what parse() gave."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (Integer, Real)):
        return number_text(value)
    if isinstance(value, str):
        return string_text(value)
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
    return "{" + ",".join(f"{string_text(key)}:{canonical(value[key])}" for key in keys) + "}"
