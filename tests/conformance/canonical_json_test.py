#!/usr/bin/env python3
"""The Python side of the checksum check: right where RFC 8785 says what is right."""

import tempfile
import unittest

from canonical_json import canonical, parse
from check_checksums import check_file
from compare_entries import differences

# Made up: the checksum is nobody's.
LINE = (b'{"checksum":"sha256:1f3ffe0fd3d0d9f9b8a1d2b0c0f1ad7ab1ac4bc9dfa3b4b1e0c1b0f4d5a6c7d8",'
        b'"content":"x"}\n')


class Canonical(unittest.TestCase):
    def test_numbers(self):
        expected = {
            # RFC 8785, section 3.2.2 and appendix B.
            "333333333.33333329": "333333333.3333333", "1E30": "1e+30", "4.50": "4.5",
            "2e-3": "0.002", "0.000000000000000000000000001": "1e-27", "-0": "0", "-0.0": "0",
            "9007199254740992": "9007199254740992", "295147905179352830000.0":
            "295147905179352830000", "999999999999999700000.0": "999999999999999700000",
            "1e21": "1e+21", "9.999999999999997e22": "9.999999999999997e+22",
            "0.000001": "0.000001", "0.0000001": "1e-7", "1424953923781206.25":
            "1424953923781206.2",
            # The extension: integers that ECMAScript's form would change.
            "9007199254740993": "9007199254740993", "1152921504606846976": "1152921504606846976",
            "18446744073709551615": "18446744073709551615", "-9223372036854775807":
            "-9223372036854775807", "100000000000000000000000": "1e+23",
        }
        for token, text in expected.items():
            self.assertEqual(canonical(parse(token)), text, token)

    def test_strings_and_order(self):
        # RFC 8785, section 3.2.3: by UTF-16 code units, so U+1F600 stands before U+FB33.
        text = ('{"\\u20ac":"Euro Sign","\\r":"Carriage Return","\\ufb33":"Hebrew","1":"One",'
                '"\\ud83d\\ude00":"Emoji","\\u0080":"Control","\\u00f6":"o"}')
        self.assertEqual(
            canonical(parse(text)),
            '{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"o","€":"Euro Sign",'
            '"😀":"Emoji","\ufb33":"Hebrew"}')
        self.assertEqual(canonical(parse('"\\u000f\\n\\u0041\\u0022\\u005c\\/\\b"')),
                         '"\\u000f\\nA\\"\\\\/\\b"')

    def test_refused(self):
        for text in ('{"a":1,"a":2}', "NaN", "1e400", "[1] 2", '{"a":1'):
            with self.assertRaises(ValueError, msg=text):
                canonical(parse(text))


class Checks(unittest.TestCase):
    def test_a_wrong_checksum_is_found(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(LINE + b'{"content":"y"}\n' + b'{"a": 1}\n' + b'{"torn')
            file.flush()
            findings = check_file(file.name)
        self.assertEqual([number for number, _ in findings.problems], [1, 4])
        self.assertEqual((findings.without, findings.not_canonical), (2, 1))
        self.assertFalse(findings.clean)

    def test_differences_are_found(self):
        given = parse('{"id":"a","content":{"n":9007199254740993},"mine":1}')
        same = parse('{"id":"a","content":{"n":9007199254740993},"mine":1,"seq":1}')
        self.assertEqual(list(differences(given, same)), [])
        other = parse('{"id":"a","content":{"n":9007199254740992},"theirs":1}')
        self.assertEqual(len(list(differences(given, other))), 3)


if __name__ == "__main__":
    unittest.main()
