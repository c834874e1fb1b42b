#!/bin/sh
# The commands in README.md and docs/ work as they stand there. Each page has an empty folder of its
# own and the program on the path; its commands are run in order, and each must succeed. A command is
# a line of an indented or fenced block that begins with "lscm "; a block fenced as python is run
# whole. Comments in a page, each on a line of its own, say what cannot be seen there:
#
#     <!-- not run: WHY -->          the next block is not run
#     <!-- run: COMMAND -->          run here, though the page does not show it: what its reader has
#     <!-- without numpy: COMMAND -->  run instead of the next python block where there is no NumPy
#
# Also: links lead somewhere, every command has its page, and every --option is one of the program's.
# Under sanitizers, which are slow, only the pages of the commands are run.
# shellcheck source=tests/testing.sh
. "$(dirname "$0")/testing.sh"
root=$tests/..
mkdir bin
ln -s "$lscm" bin/lscm
PATH=$work/bin:$PATH
export PATH

python=
for candidate in python3 /usr/bin/python3; do
    [ -n "$python" ] || ! "$candidate" -c "import numpy" >/dev/null 2>&1 || python=$candidate
done

pages=$(cd "$root" && find README.md docs -name '*.md' | sort)

# steps PAGE FOLDER: "LINE<tab>COMMAND" for each, python blocks put into files of FOLDER
steps() {
    awk -v folder="$2" -v numpy="$python" '
    function step(command) { print NR "\t" command }
    function begin() { if (!inside) { inside = 1; skipped = skip; skip = 0 } }
    function end() { inside = 0; skipped = 0 }
    /^<!-- .* -->$/ && !fence {
        end()
        comment = substr($0, 6, length($0) - 9)
        if (comment ~ /^not run: /) skip = 1
        if (sub(/^run: /, "", comment)) step(comment)
        if (sub(/^without numpy: /, "", comment)) instead = comment
        next
    }
    /^```/ && !fence {
        fence = 1; begin(); language = substr($0, 4)
        file = language == "python" ? folder "/block" NR ".py" : ""
        next
    }
    /^```/ {
        if (file != "" && !skipped) {
            close(file)
            step(numpy != "" ? numpy " " file : instead != "" ? instead : "echo no NumPy: not run")
        }
        fence = 0; instead = ""; end(); next
    }
    fence && file != "" { print > file; next }
    fence && language !~ /^(|sh|bash|console)$/ { next }
    fence { line = $0 }
    !fence && /^    / { begin(); line = substr($0, 5) }
    !fence && !/^    / { if ($0 !~ /^[ \t]*$/) end(); held = ""; next }
    {
        if (held == "" && line !~ /^lscm /) next
        line = held line
        if (line ~ /\\$/) { held = substr(line, 1, length(line) - 1); next }
        held = ""
        if (!skipped) step(line)
    }' "$1"
}

run_page() {
    folder=$work/pages/$(echo "$1" | tr / -)
    mkdir -p "$folder/here"
    steps "$root/$1" "$folder" >"$folder/steps"
    while IFS="$(printf '\t')" read -r line command; do
        count=$((count + 1))
        (cd "$folder/here" && sh -c "$command") >"$work/output" 2>&1 </dev/null ||
            bad "$1:$line: $command (exit $?)"
    done <"$folder/steps"
}

# ---- what the pages say
for page in $pages; do
    if [ -z "${LSCM_SANITIZED:-}" ] || [ "${page#docs/commands/}" != "$page" ]; then
        run_page "$page"
    fi
done

# ---- links between files
for page in $pages; do
    # shellcheck disable=SC2013 # nor have links
    for link in $(sed -n 's/](/\n](/g; p' "$root/$page" | sed -n 's/^\](\([^)#: ]*\).*/\1/p'); do
        count=$((count + 1))
        [ -e "$root/$(dirname "$page")/$link" ] || {
            : >output
            bad "$page: there is no $link"
        }
    done
done

# ---- every command has a page, and the pages speak of options that there are
lscm --help | sed -n 's/^  \([a-z][a-z]*\)  *[a-z].*/\1/p' | grep -vx lscm >commands
# shellcheck disable=SC2013 # names have no spaces
for name in $(cat commands); do
    lscm "$name" --help
done >help
succeeds "fit" cat commands
# shellcheck disable=SC2013
for name in $(cat commands); do
    succeeds "lscm $name" cat "$root/docs/commands/$name.md"
    succeeds "commands/$name.md" cat "$root/docs/README.md"
done
for page in $pages; do
    case $page in docs/install.md | docs/architecture.md | docs/cluster.md | docs/gpu.md) continue ;; esac
    grep -o -E -e '(^|[ `(])--[a-z][a-z-]+' "$root/$page" | sed 's/^[^-]*//' | sort -u |
        while read -r option; do
            grep -qE -e "(^|[ ,])$option([ =,[]|\$)" help || echo "$page: $option"
        done
done >unknown
cp unknown output
count=$((count + 1))
[ ! -s unknown ] || bad "options that no command has"
finish
