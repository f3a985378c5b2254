"""`ragmeter --completion SHELL`: a script by which bash, zsh or fish completes commands, options, choices and runs.

It is made from the parsers of the commands.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass

from ragmeter.cli.commands import COMMANDS, first_words
from ragmeter.errors import UnknownNameError

#: The beginning of an option's help that is shown: its first sentence.
_SENTENCE = re.compile(r"[^;:(]{1,70}")


@dataclass(frozen=True)
class Option:
    """An option's flags, what it is, and the values that it may have; `takes`: it has a value."""

    flags: list[str]
    about: str
    choices: list[str]
    takes: bool


@dataclass(frozen=True)
class Completable:
    """A command as a shell completes it: its words, its options, and whether it takes runs."""

    words: str
    options: list[Option]
    takes_runs: bool


def completion(shell: str) -> str:
    """The script for a shell."""
    if shell not in _SHELLS:
        raise UnknownNameError("shell", shell, _SHELLS, hint="choose bash, zsh or fish")
    return _SHELLS[shell]([_command(command.name, command.parser()) for command in COMMANDS.values()])


def _command(words: str, parser: argparse.ArgumentParser) -> Completable:
    options = [_option(action) for action in parser._actions if action.option_strings]
    takes_runs = any(not action.option_strings and action.dest in ("run", "runs") for action in parser._actions)
    return Completable(words, options, takes_runs)


def _option(action: argparse.Action) -> Option:
    about = _SENTENCE.match((action.help or "").replace("%%", "%").replace("\n", " "))
    choices = [str(choice) for choice in action.choices or ()]
    takes = action.nargs != 0 and not isinstance(action, argparse.BooleanOptionalAction)
    return Option(list(action.option_strings), "" if about is None else about[0].strip(), choices, takes)


def _seconds(commands: list[Completable]) -> dict[str, list[str]]:
    """The second words of commands that have some."""
    pairs = [command.words.split() for command in commands if " " in command.words]
    return {first: [second for other, second in pairs if other == first] for first, _ in pairs}


def _second_words(commands: list[Completable], at_second: str, offer: str, second: str) -> list[str]:
    """Lines for commands of two words; `at_second` asks whether the second is being typed, `offer` completes it."""
    lines = []
    for first, seconds in _seconds(commands).items():
        both = "|".join(f"'{first} {word}'" for word in seconds)
        lines += [
            f'    if [[ "$command" == {first} ]] && {at_second}; then {offer.format(" ".join(seconds))}; return; fi',
            f'    case "$command {second}" in {both}) command="$command {second}";; esac',
        ]
    return lines


def _values(commands: list[Completable], previous: str, offer: str, others: str) -> list[str]:
    """Lines for the value of the option before it: its choices are offered, `others` does what is usual for files."""
    lines = [f'    case "$command {previous}" in']
    for command in commands:
        for option in command.options:
            if option.takes:
                flags = "|".join(f"'{command.words} {flag}'" for flag in option.flags)
                reply = offer.format(" ".join(option.choices)) if option.choices else others
                lines.append(f"        {flags}) {reply}; return;;")
    return [*lines, "    esac"]


def _taking_runs(commands: list[Completable]) -> str:
    return "|".join(f"'{command.words}'" for command in commands if command.takes_runs)


def _bash(commands: list[Completable]) -> str:
    offer = 'COMPREPLY=($(compgen -W "{}" -- "$cur"))'
    first = f"{' '.join(first_words())} --help --version --completion"
    flags = {
        command.words: " ".join(flag for option in command.options for flag in option.flags) for command in commands
    }
    lines = [
        '# bash completion of ragmeter: eval "$(ragmeter --completion bash)"',
        "_ragmeter() {",
        '    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" run',
        '    local command="${COMP_WORDS[1]}" second="${COMP_WORDS[2]}"',
        "    COMPREPLY=()",
        f'    if [[ "$COMP_CWORD" -eq 1 ]]; then {offer.format(first)}; return; fi',
        f'    if [[ "$command" == --completion ]]; then {offer.format("bash zsh fish")}; return; fi',
        *_second_words(commands, '[[ "$COMP_CWORD" -eq 2 && "$cur" != -* ]]', offer, "$second"),
        *_values(commands, "$prev", offer, ":"),
        '    if [[ "$cur" == -* ]]; then case "$command" in',
        *(f"        '{words}') {offer.format(listed)};;" for words, listed in flags.items()),
        "    esac; return; fi",
        f'    case "$command" in {_taking_runs(commands)})',
        "        for run in runs/*/; do  # compgen would execute what a name has in it",
        '            run="${run#runs/}"; run="${run%/}"',
        '            if [[ -d "runs/$run" && "$run" == "$cur"* ]]; then COMPREPLY+=("$(printf %q "$run")"); fi',
        "        done;;",
        "    esac",
        "}",
    ]
    return "\n".join([*lines, "complete -o default -F _ragmeter ragmeter"])


def _zsh(commands: list[Completable]) -> str:
    offer = "compadd {}"
    described = " ".join(_zsh_pair(name, about) for name, about in first_words().items())
    lines = [
        "#compdef ragmeter",
        '# zsh completion of ragmeter: eval "$(ragmeter --completion zsh)", after compinit',
        "_ragmeter() {",
        "    local command=$words[2]",
        "    local -a entries",
        f"    if (( CURRENT == 2 )); then entries=({described}); _describe command entries; return; fi",
        f'    if [[ "$command" == --completion ]]; then {offer.format("bash zsh fish")}; return; fi',
        *_second_words(commands, "(( CURRENT == 3 )) && [[ $words[3] != -* ]]", offer, "$words[3]"),
        *_values(commands, "$words[CURRENT-1]", offer, "_files"),
        "    if [[ $words[CURRENT] == -* ]]; then case $command in",
    ]
    for command in commands:
        pairs = " ".join(_zsh_pair(flag, option.about) for option in command.options for flag in option.flags)
        lines.append(f"        '{command.words}') entries=({pairs});;")
    lines += [
        "    esac; _describe option entries; return; fi",
        f"    case $command in {_taking_runs(commands)}) compadd -- runs/*(/N:t);; esac",
        "    _files",
        "}",
    ]
    return "\n".join([*lines, "compdef _ragmeter ragmeter"])


def _zsh_pair(name: str, about: str) -> str:
    text = f"{name}:{about}".replace("'", "'\\''")
    return f"'{text}'"


def _fish(commands: list[Completable]) -> str:
    lines = ["# fish completion of ragmeter: ragmeter --completion fish | source"]
    for name, about in first_words().items():
        lines.append(f"complete -c ragmeter -n __fish_use_subcommand -f -a {name} -d {_fish_text(about)}")
    seconds = _seconds(commands)
    for first, words in seconds.items():
        unseen = f"__fish_seen_subcommand_from {first}; and not __fish_seen_subcommand_from {' '.join(words)}"
        lines.append(f"complete -c ragmeter -n '{unseen}' -f -a '{' '.join(words)}'")
    for command in commands:
        condition = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in command.words.split())
        for option in command.options:
            flags = " ".join(f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags)
            value = f" -x -a '{' '.join(option.choices)}'" if option.choices else " -r" if option.takes else ""
            about = f" -d {_fish_text(option.about)}" if option.about else ""
            lines.append(f"complete -c ragmeter -n '{condition}' {flags}{value}{about}")
        if command.takes_runs:
            lines.append(f"complete -c ragmeter -n '{condition}' -a '(path basename runs/*/ 2>/dev/null)'")
    return "\n".join(lines)


def _fish_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


_SHELLS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
