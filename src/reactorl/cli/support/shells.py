# SPDX-License-Identifier: Apache-2.0
"""Scripts for shells: what the tab key offers, written as each shell wants it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reactorl.cli.commands.completion import Command, Option

# -- bash --

_BASH = """\
# Completion of reactorl for bash 4 and later. In ~/.bashrc:
#   eval "$(reactorl completion bash)"

_reactorl_words() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
}

_reactorl_paths() {
  compopt -o filenames 2>/dev/null
  case $1 in
    program)
      mapfile -t COMPREPLY < <(compgen -f -X '!*.lf' -- "$current"
        compgen -d -- "$current") ;;
    target)
      mapfile -t COMPREPLY < <(compgen -f -X '!*.lf' -- "$current"
        compgen -f -X '!*.py' -- "$current"
        compgen -d -- "$current") ;;
    run)
      [[ -z $current && -d runs ]] && current=runs/
      mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
    directory)
      mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
    file)
      mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
  esac
}

declare -gA _reactorl_flags=()

_reactorl_train() {
  local algorithm=$1 line name kind words="--help --debug"
  if [[ -z ${_reactorl_flags[$algorithm]} ]]; then
    _reactorl_flags[$algorithm]=$(reactorl completion --flags "$algorithm" 2>/dev/null)
  fi
  while read -r name kind; do
    words+=" $name"
    if [[ $name == "$previous" && $kind != switch ]]; then
      _reactorl_paths "$kind"
      return
    fi
  done <<<"${_reactorl_flags[$algorithm]}"
  _reactorl_words "$words"
}

_reactorl() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
  local word before=()
  COMPREPLY=()
  if [[ $current == "=" ]]; then
    current=""
  elif [[ $previous == "=" ]]; then
    previous=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] || before+=("$word")
  done
  if [[ ${before[0]} == train && -n ${before[1]} ]]; then
    _reactorl_train "${before[1]}"
    return
  fi
  case "${before[0]} $previous" in
@values@
  esac
  if [[ $current == -* ]]; then
    case ${before[0]} in
@options@
    esac
    return
  fi
  case ${before[0]} in
@arguments@
  esac
}

complete -F _reactorl reactorl
"""


def bash(commands: Sequence[Command], general: Sequence[Option]) -> str:
    """Return the script for bash."""
    values, options, arguments = [], [], []
    for command in commands:
        for option in command.options:
            if option.kind:
                case = "|".join(f'"{command.name} {name}"' for name in option.names)
                offer = _bash_offer(option.kind, option.words)
                values.append(f"    {case}) {offer}return ;;")
        names = " ".join(_names(command.options))
        options.append(f'      {command.name}) _reactorl_words "{names}" ;;')
        offer = _bash_offer(command.kind, command.words)
        arguments.append(f"    {command.name}) {offer};;")
    options.append(f'      "") _reactorl_words "{" ".join(_names(general))}" ;;')
    every = " ".join(command.name for command in commands)
    arguments.append(f'    "") _reactorl_words "{every}" ;;')
    return (
        _BASH.replace("@values@", "\n".join(values))
        .replace("@options@", "\n".join(options))
        .replace("@arguments@", "\n".join(arguments))
    )


def _bash_offer(kind: str, words: Sequence[str]) -> str:
    if kind == "words":
        return f'_reactorl_words "{" ".join(words)}"; '
    return f"_reactorl_paths {kind}; " if kind and kind != "value" else ""


def _names(options: Sequence[Option]) -> list[str]:
    return [name for option in options for name in option.names]


# -- zsh --

_ZSH = """\
#compdef reactorl
# Completion of reactorl for zsh. In ~/.zshrc, after compinit:
#   eval "$(reactorl completion zsh)"

_reactorl_runs() {
  if [[ -z $PREFIX && -d runs ]]; then
    _files -W $PWD -/ -g 'runs/*(/)'
  else
    _files -/
  fi
}

typeset -gA _reactorl_flags

_reactorl_train() {
  local line
  local -a algorithms names kinds
  algorithms=(@algorithms@)
  if (( CURRENT == 2 )); then
    compadd -a algorithms
    [[ $PREFIX == -* ]] && compadd -- --help --debug
    return
  fi
  if [[ -z ${_reactorl_flags[$words[2]]} ]]; then
    _reactorl_flags[$words[2]]=$(reactorl completion --flags $words[2] 2>/dev/null)
  fi
  for line in ${(f)_reactorl_flags[$words[2]]}; do
    names+=(${line%% *})
    [[ ${line%% *} == $words[CURRENT-1] ]] || continue
    case ${line##* } in
      run) _reactorl_runs; return ;;
      directory) _files -/; return ;;
      value) return ;;
    esac
  done
  compadd -- --help --debug $names
}

_reactorl() {
  local state
  local -a commands
  commands=(
@commands@
  )
  _arguments -C \\
@general@
    '1:command:->command' \\
    '*::argument:->argument'
  case $state in
    command) _describe -t commands command commands ;;
    argument)
      case $words[1] in
@arguments@
      esac ;;
  esac
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _reactorl "$@"
else
  compdef _reactorl reactorl
fi
"""


def zsh(commands: Sequence[Command], general: Sequence[Option]) -> str:
    """Return the script for zsh."""
    arguments = []
    for command in commands:
        if command.name == "train":
            algorithms = " ".join(command.words)
            arguments.append("        train) _reactorl_train ;;")
            continue
        lines = [f"        {command.name})", "          _arguments \\"]
        lines += [f"            {spec} \\" for spec in _zsh_options(command.options)]
        last = _zsh_value(command.kind, command.words)
        lines.append(f"            '*:{last}' ;;" if last else "            ;;")
        arguments.append("\n".join(lines))
    listed = [f"    {_zsh_quoted(f'{c.name}:{c.help}')}" for c in commands]
    return (
        _ZSH.replace("@commands@", "\n".join(listed))
        .replace("@general@", "\n".join(f"    {s} \\" for s in _zsh_options(general)))
        .replace("@arguments@", "\n".join(arguments))
        .replace("@algorithms@", algorithms)
    )


def _zsh_options(options: Sequence[Option]) -> Iterator[str]:
    for option in options:
        help = option.help.replace("[", "\\[").replace("]", "\\]")
        value = _zsh_value(option.kind, option.words)
        rest = _zsh_quoted(f"[{help}]" + (f":{value}" if value else ""))
        if len(option.names) == 1:
            yield f"'{option.names[0]}'{rest}"
        else:
            either = " ".join(option.names)
            yield f"'({either})'{{{','.join(option.names)}}}{rest}"


def _zsh_value(kind: str, words: Sequence[str]) -> str:
    ways = {
        "program": 'program:_files -g "*.lf"',
        "target": 'program:_files -g "*.(lf|py)"',
        "run": "run:_reactorl_runs",
        "directory": "directory:_files -/",
        "file": "file:_files",
        "value": "value: ",
        "words": f"value:({' '.join(words)})",
    }
    return ways.get(kind, "")


def _zsh_quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


# -- fish --

_FISH = """\
# Completion of reactorl for fish. In ~/.config/fish/config.fish:
#   reactorl completion fish | source

function __reactorl_runs
    if test -z (commandline -ct); and test -d runs
        printf '%s\\n' runs/*/
    else
        __fish_complete_directories (commandline -ct)
    end
end

function __reactorl_train
    set -l words (commandline -opc)
    set -l algorithm $words[3]
    set -l cache __reactorl_flags_(string replace -a - _ -- $algorithm)
    if not set -q $cache
        set -g $cache (reactorl completion --flags $algorithm 2>/dev/null)
    end
    for line in $$cache
        set -l parts (string split ' ' -- $line)
        if test "$parts[1]" = "$words[-1]"
            switch $parts[2]
                case run
                    __reactorl_runs
                    return
                case directory
                    __fish_complete_directories (commandline -ct)
                    return
                case value
                    return
            end
        end
    end
    for line in $$cache
        string split -f 1 ' ' -- $line
    end
end

function __reactorl_needs_algorithm
    set -l words (commandline -opc)
    test (count $words) -eq 2; and test $words[2] = train
end

function __reactorl_has_algorithm
    set -l words (commandline -opc)
    test (count $words) -ge 3; and test $words[2] = train
end

complete -c reactorl -e
complete -c reactorl -f
"""


def fish(commands: Sequence[Command], general: Sequence[Option]) -> str:
    """Return the script for fish."""
    lines = [_fish_option("__fish_use_subcommand", option) for option in general]
    for command in commands:
        name, help = command.name, _fish_quoted(command.help)
        lines.append(
            f"complete -c reactorl -n __fish_use_subcommand -a {name} -d {help}"
        )
        seen = f"'__fish_seen_subcommand_from {name}'"
        lines += [_fish_option(seen, option) for option in command.options]
        if name == "train":
            offer = f"-a '{' '.join(command.words)}'"
            lines.append(f"complete -c reactorl -n __reactorl_needs_algorithm {offer}")
            offer = "-a '(__reactorl_train)'"
            lines.append(f"complete -c reactorl -n __reactorl_has_algorithm {offer}")
        elif command.kind:
            offer = _fish_value(command.kind, command.words)
            lines.append(f"complete -c reactorl -n {seen} {offer}")
    return _FISH + "\n".join(lines) + "\n"


def _fish_option(condition: str, option: Option) -> str:
    parts = [
        f"complete -c reactorl -n {condition}",
        *(f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names),
    ]
    if option.kind:
        how = "-r" if option.kind == "file" else "-x"
        parts += [how, _fish_value(option.kind, option.words)]
    parts.append(f"-d {_fish_quoted(option.help)}")
    return " ".join(part for part in parts if part)


def _fish_value(kind: str, words: Sequence[str]) -> str:
    ways = {
        "program": "-k -a '(__fish_complete_suffix .lf)'",
        "target": "-k -a '(__fish_complete_suffix .lf; __fish_complete_suffix .py)'",
        "run": "-a '(__reactorl_runs)'",
        "directory": "-a '(__fish_complete_directories (commandline -ct))'",
        "file": "-F",
        "words": f"-a '{' '.join(words)}'",
    }
    return ways.get(kind, "")


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
