"""`credo completion`: the lines that make a shell complete commands, options, files and names."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from credo.cli.options import Common, Manual, common_options

__all__ = ["command"]

_HOW = {
    "bash": 'eval "$(credo completion bash)"',
    "zsh": 'eval "$(credo completion zsh)"',
    "fish": "credo completion fish | source",
}


@click.command("completion", cls=Manual)
@click.argument("shell", type=click.Choice(list(_HOW)))
@common_options()
def command(shell: str, common: Common) -> None:
    """Print the completion script of a shell: commands, options, files, and names of variables.

    \b
    Put one line into your shell's own file, or the script where the shell looks for it:
      bash  eval "$(credo completion bash)"  in ~/.bashrc
      zsh   eval "$(credo completion zsh)"  in ~/.zshrc, after compinit;
            or credo completion zsh > _credo  in a folder of $fpath
      fish  credo completion fish | source  in ~/.config/fish/config.fish;
            or credo completion fish > ~/.config/fish/completions/credo.fish

    \b
    Examples:
      credo completion bash
      credo completion zsh > _credo
      credo completion fish > credo.fish
    """
    from credo.cli import app

    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(app, {}, "credo", "_CREDO_COMPLETE").source()
    if common.as_json:
        common.emit("completion", {"shell": shell, "use": _HOW[shell], "script": script})
        return
    click.echo(script)
