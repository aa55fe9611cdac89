#!/usr/bin/env python3
"""The head of docs/options.md: the options to look at first, and all of them by purpose, as the
program says them (`kdgat config options`). scripts/docs calls it with the program and its
stages."""
import json
import subprocess
import sys


def main():
    program, *stages = sys.argv[1:]
    listed = json.loads(subprocess.check_output([program, "config", "options", "--json"]))

    def shown(option):
        """Of the project's stages, those that have the option."""
        return [stage for stage in option["stages"] if stage in stages]

    print("## Options to look at first\n\n| option | what to know | stages |\n|---|---|---|")
    for option in listed["first"]:
        links = ", ".join(f"[{stage}](#{stage})" for stage in shown(option))
        print(f"| `{option['name']}` | {option['advice']} | {links} |")

    print("\n## By purpose\n\nOptions that several stages have, and the most used ones of one stage. The words of each stand below, by "
          "stage.\n\n| purpose | options |\n|---|---|")
    for purpose in listed["purposes"]:
        if purpose["title"] == "Others":
            continue
        names = ", ".join(f"`{option['name']}`" for option in purpose["options"] if shown(option))
        print(f"| {purpose['title']} | {names} |")


main()
