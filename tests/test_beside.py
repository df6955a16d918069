"""What is done beside something else ends when that is interrupted, and tells what it raised."""

from __future__ import annotations

import threading

import pytest

from tiebreak.conformance.running.beside import beside


def test_both_are_done_and_the_result_comes_back() -> None:
    begun = threading.Event()
    with beside(lambda: begun.set() or 7, lambda: None) as made:  # type: ignore[func-returns-value]
        assert begun.wait(10)
        assert made() == 7


def test_an_interrupt_gives_up_what_is_going_on() -> None:
    given_up, found = threading.Event(), list[bool]()
    with pytest.raises(KeyboardInterrupt), beside(lambda: found.append(given_up.wait(10)), given_up.set):
        raise KeyboardInterrupt
    assert found == [True]


def test_what_it_raises_is_raised_where_it_is_waited_for() -> None:
    def broken() -> None:
        raise ValueError("here")

    with pytest.raises(ValueError, match="here"), beside(broken, lambda: None) as made:
        made()
