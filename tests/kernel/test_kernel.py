"""The compiled kernel gives what the plain path gives, to the bit, and survives whatever bytes it gets."""

from __future__ import annotations

import runpy
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rapidfuzz.distance import LCSseq, Levenshtein

from ragmeter import get_metric, kernel
from ragmeter.metrics import splitting
from ragmeter.metrics import tokens as tokens_module
from ragmeter.metrics.bags import Bags, Ids, Sides
from ragmeter.metrics.text import _alignment, _term_sums, lcs
from ragmeter.metrics.tokens import Lexicon
from tests.metrics.test_text import CASES

needs_library = pytest.mark.skipif(not kernel.library(), reason=f"there is no compiled kernel here: {kernel.state()}")
letters = st.one_of(st.sampled_from("abAB12'`.,_-! \t\n\x1c\x85\u2003\u3000éÉ\u0301ß’中٣𝔸\0"), st.characters())
texts = st.lists(st.text(letters, max_size=40), max_size=8)
METRICS = ("edit_distance", "normalized_distance", "exact_match", "token_f1", "rouge_l_score", "meteor_score")


@contextmanager
def plain() -> Iterator[None]:
    """Without the kernel."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "library", lambda: None)
        patch.setattr(tokens_module, "_lexicon", Lexicon())
        yield


def check_both_ways(metric: str, references: Sequence[str], answers: Sequence[str]) -> None:
    compiled = get_metric(metric)(references, answers)
    with plain():
        np.testing.assert_array_equal(get_metric(metric)(references, answers), compiled)


def sides_of(pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Sides:
    sequences = [pair[side] for side in (0, 1) for pair in pairs]
    starts = np.concatenate([[0], np.cumsum(list(map(len, sequences)))]).astype(np.int64)
    return Sides(np.array([item for sequence in sequences for item in sequence], np.int64), starts)


@needs_library
@given(texts)
@example(["1923'te 1,5'i a1'b 1'2 _'a 1'_ 3.'te 29\u2019u \u0130stanbul'un"])
@example(["x" * 70_000 + " y" * 3, "", "é" * 5, "\u0301" + "a" * 9, "aaaaaaaa aaaaaaaab"])
def test_texts_are_split_as_over_arrays(texts: list[str]) -> None:
    compiled, over_arrays = splitting._split_compiled([texts]), splitting._split_plain(texts)
    assert compiled.distinct.to_pylist() == over_arrays.distinct.to_pylist()
    np.testing.assert_array_equal(compiled.items, over_arrays.items)
    np.testing.assert_array_equal(compiled.starts, over_arrays.starts)
    for split in (compiled, over_arrays):
        marked = [any("\u0300" <= letter < "\u0380" for letter in text) for text in texts]
        assert (split.has_marks is not None) == any(marked)
        assert split.has_marks is None or split.has_marks.tolist() == marked


@needs_library
@given(st.lists(texts, max_size=4))
def test_a_vocabulary_numbers_texts_as_a_dict_does(batches: list[list[str]]) -> None:
    compiled, with_dict = tokens_module.new_vocabulary(), tokens_module._PlainVocabulary()
    for batch in batches:
        array = splitting.text_array(batch)
        np.testing.assert_array_equal(compiled.of(array[1:]), with_dict.of(array[1:]))
        np.testing.assert_array_equal(compiled.of(array), with_dict.of(array))
    assert compiled.since(0).to_pylist() == with_dict.since(0).to_pylist()
    assert compiled.since(len(compiled) // 2).to_pylist() == with_dict.since(len(with_dict) // 2).to_pylist()


@needs_library
def test_a_vocabulary_grows() -> None:
    words = tokens_module.new_vocabulary()
    many = splitting.text_array([f"{'longer than eight ' * (number % 2)}{number}" for number in range(5000)])
    np.testing.assert_array_equal(words.of(many), np.arange(5000))
    np.testing.assert_array_equal(words.of(many), np.arange(5000))


items = st.lists(st.integers(0, 6), max_size=150)


@needs_library
@given(st.lists(st.tuples(items, items, st.integers(1, 3)), max_size=5), st.sampled_from([0, 10**9]))
def test_pairs_have_the_same_in_common(pairs: list[tuple[list[int], list[int], int]], far: int) -> None:
    """Stems are words without their last digit, so to speak; `far`: ids that no table has room for."""
    words = sides_of([(first, second) for first, second, _ in pairs])
    words = Sides(words.ids * (1 + far), words.starts)
    bags, stem_bags = Bags(words), Bags(Sides(words.ids // 2, words.starts))
    compiled = [bags.overlap, *_alignment(bags, stem_bags), *_alignment(bags, bags), *_term_sums(bags)]
    lengths = lcs.function(words)
    with plain():
        bags, stem_bags = Bags(words), Bags(Sides(words.ids // 2, words.starts))
        expected = [bags.overlap, *_alignment(bags, stem_bags), *_alignment(bags, bags), *_term_sums(bags)]
    for ours, oracle in zip(compiled, expected, strict=True):
        np.testing.assert_array_equal(ours, oracle)
    assert lengths.tolist() == [LCSseq.similarity(first, second) for first, second, _ in pairs]


@needs_library
@given(
    st.lists(st.tuples(st.text("ab é’中", max_size=300), st.text("ab é’中", max_size=300)), max_size=4),
    st.integers(0, 200),
)
@example([("ab" * 500, "ba" * 500), ("a" * 64, "a" * 63 + "b" * 66), ("a" * 2000, "b" * 129)], 0)
def test_distances_are_those_of_rapidfuzz(pairs: list[tuple[str, str]], ahead: int) -> None:
    """`ahead`: the same text before the second of each pair, so that the two are near each other, or shifted."""
    references, answers = [first for first, _ in pairs], [first[-ahead:] + second for first, second in pairs]
    distances = get_metric("edit_distance")(references, answers)
    assert distances.tolist() == [Levenshtein.distance(*pair) for pair in zip(references, answers, strict=True)]


@needs_library
def test_characters_that_are_not_in_doubt_stay_as_they_are_in_nfc() -> None:
    from ragmeter.kernel.words import may_change_in_nfc

    characters = ["a" + chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000]
    in_doubt = may_change_in_nfc(pa.array(characters, pa.large_string()))
    certain = "".join(characters[place] for place in np.flatnonzero(~in_doubt).tolist())
    assert unicodedata.normalize("NFC", certain) == certain
    assert len(certain) > 2 * 0x300


@needs_library
def test_what_follows_a_letter_of_ascii_makes_no_other_of_it() -> None:
    """So that texts whose first letters differ are not the same, whatever accents they have."""
    from ragmeter.kernel.words import may_be_same
    from ragmeter.metrics.normalize import fold, strip_accents

    marks = [chr(point) for point in range(0x80, 0x3000)] + [chr(point) for point in range(0xA000, 0xABFF)]
    marked = ["a" + mark for mark in marks]
    plain_forms = strip_accents(fold("\n".join(f"\x01{text}" for text in marked))).split("\n")
    assert all(form.startswith("\x01a") for form in plain_forms)
    first, second = (pa.array([f"\t {letter}{text}" for text in marked], pa.large_string()) for letter in "bc")
    assert not may_be_same(first, second, splitting.TABLES).any()
    assert may_be_same(first, first, splitting.TABLES).all()


@needs_library
@given(texts)
def test_metrics_are_equal_to_the_bit_on_both_paths(texts: list[str]) -> None:
    answers = [*texts[1:], *texts[:1]]
    for metric in (
        *METRICS,
        "cosine_similarity[language=es]",
        "meteor_score[language=es]",
        "rouge_l_score[language=en]",
    ):
        check_both_ways(metric, texts, answers)


@needs_library
def test_the_worked_cases_are_equal_on_both_paths() -> None:
    for metric in {case[0] for case in CASES}:
        of_metric = [case for case in CASES if case[0] == metric and isinstance(case[1], str)]
        check_both_ways(metric, [str(case[1]) for case in of_metric], [str(case[2]) for case in of_metric])


@needs_library
def test_what_the_kernel_leaves_to_the_plain_path() -> None:
    """More items than it has room for, more different characters, and lone surrogates."""
    many = " ".join(map(str, range(4200)))
    rare = "".join(map(chr, range(0x4E00, 0x4E00 + 200)))
    texts = [many, rare, "a\ud800b", "", "a"]
    for metric in ("rouge_l_score", "edit_distance", "meteor_score[language=en]"):
        check_both_ways(metric, texts, [f"0 {many}", rare[::-1], "a?b", "", "b"])


def array_of(pieces: list[bytes]) -> Any:
    """An Arrow array of bytes that need not be texts."""
    bounds: Ids = np.concatenate([[0], np.cumsum(list(map(len, pieces)))]).astype(np.int64)
    data = np.frombuffer(b"".join(pieces), np.uint8).copy()
    return pa.LargeStringArray.from_buffers(len(pieces), pa.py_buffer(bounds), pa.py_buffer(data))


@needs_library
@given(st.lists(st.binary(max_size=60), min_size=1, max_size=6))
@example([b"\xe2", b"\xe2\x80", b"\xc2", b"\xf0\x9f", b"'", b"a'", b"1.", b"\xff" * 20])
def test_bytes_that_are_no_texts_do_no_harm(pieces: list[bytes]) -> None:
    """Readers refuse such bytes; nothing is read or written beyond them all the same."""
    from ragmeter.kernel.pairs import distances
    from ragmeter.kernel.words import Vocabulary, may_be_same

    words = Vocabulary()
    ids, starts, _ = words.split(array_of(pieces), splitting.TABLES)
    assert len(ids) == starts[-1]
    assert (ids < len(words)).all()
    assert (distances(array_of(pieces), array_of(pieces)) == 0).all()
    assert may_be_same(array_of(pieces), array_of(pieces), splitting.TABLES).all()


@pytest.mark.parametrize(
    ("variables", "shown"),
    [({kernel.PLAIN: "1"}, f"plain Python: {kernel.PLAIN} is set"), ({kernel.PLAIN: "0"}, kernel.state())],
)
def test_a_variable_turns_it_off(variables: dict[str, str], shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    kernel._loaded.cache_clear()
    try:
        assert kernel.state() == shown
        assert bool(kernel.library()) == shown.startswith("compiled")
    finally:
        monkeypatch.undo()
        kernel._loaded.cache_clear()


@pytest.mark.parametrize("content", [None, b"no library"])
def test_an_install_without_a_library_that_works_is_plain(
    content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "FOLDER", tmp_path)
    monkeypatch.delenv(kernel.PLAIN, raising=False)
    if content is not None:
        (tmp_path / kernel.library_name()).write_bytes(content)
    kernel._loaded.cache_clear()
    try:
        assert kernel.library() is None
        assert kernel.state().startswith("plain Python: ")
    finally:
        monkeypatch.undo()
        kernel._loaded.cache_clear()


@needs_library
def test_a_library_of_other_sources_is_not_used() -> None:
    code = "from ragmeter import kernel; kernel.digest = lambda: 'other'; print(kernel.state(), kernel.library())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "was made of other sources" in done.stdout
    assert done.stdout.endswith("None\n")


@pytest.mark.parametrize("compiler", ["cc", "no-such-compiler"])
def test_a_wheel_that_is_built_leaves_no_folder(compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("CC", compiler)
    monkeypatch.delenv("RAGMETER_WHEEL", raising=False)
    hook = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "build_kernel.py"))["KernelHook"]
    building = hook.__new__(hook)  # hatchling gives it a root and a configuration, which it does not use
    build_data: dict[str, Any] = {"force_include": {}}
    building.initialize("standard", build_data)
    assert all(Path(library).is_file() for library in build_data["force_include"])
    building.finalize("standard", build_data, "ragmeter.whl")
    assert list(tmp_path.iterdir()) == []
