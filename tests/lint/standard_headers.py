"""Which header of the C++ standard library a name needs: of names that many headers bring along in
one implementation, and not in the next."""
import re


def _names(*names):
    return re.compile(r"\bstd::(" + "|".join(names) + r")\b")


HEADERS = {
    "algorithm": _names(
        "adjacent_find", "all_of", "any_of", "binary_search", "clamp", "copy", "copy_if", "copy_n",
        "count", "count_if", "equal", "equal_range", "fill", "find", "find_if", "for_each",
        "generate", "includes", "is_sorted", r"lexicographical_compare", "lower_bound",
        r"(?:make|pop|push)_heap", "max", "max_element", "merge", "min", "min_element", "minmax",
        "mismatch", "none_of", "nth_element", "partial_sort", "partition", "partition_point",
        r"remove_if", "replace", "reverse", "rotate", "search", "set_difference", "shuffle",
        "sort", "stable_sort", "transform", "unique", "upper_bound"),
    "atomic": _names("atomic"),
    "bit": _names(r"bit_\w+", r"count[lr]_zero", "endian", "popcount"),
    "charconv": _names("from_chars", "to_chars"),
    "chrono": _names("chrono"),
    "cmath": _names("ceil", "exp", "exp2", "floor", "isfinite", "isinf", "isnan", "ldexp", "log",
                    "log2", "nextafter", "pow", "round", "sqrt", "trunc"),
    "cstring": _names(r"mem(?:chr|cmp|cpy|move|set)", r"str(?:cmp|error|len)"),
    "deque": _names("deque"),
    "filesystem": _names("filesystem"),
    "fstream": _names(r"[io]?fstream"),
    "iterator": _names("advance", "back_inserter", "distance", "istreambuf_iterator",
                       "make_move_iterator"),
    "limits": _names("numeric_limits"),
    "numeric": _names("accumulate", "gcd", "inner_product", "iota", "midpoint", "partial_sum"),
    "queue": _names("priority_queue", "queue"),
    "sstream": _names(r"[io]?stringstream"),
    "thread": _names("jthread", "this_thread", "thread"),
    "tuple": _names("make_tuple", "tie", "tuple"),
    "variant": _names("get_if", "holds_alternative", "monostate", "variant", "visit"),
}


def missing(code, included):
    """(offset, name, header) of the first name in `code` for each header that is not included."""
    for header, names in HEADERS.items():
        match = names.search(code)
        if match and header not in included:
            yield match.start(), match.group(), header
