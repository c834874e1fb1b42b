#!/bin/sh
# The rooms and what they see, as a graph for dot: drawn from the includes themselves (rooms.sh), so
# that docs/rooms.svg cannot lie. An arrow goes from a room to one that it sees; what is seen through
# another room as well is left out (tred). base, which everybody sees, has no arrows.
set -eu
cd "$(dirname "$0")/.."
sh tests/rooms.sh | awk '
$2 != "lscm.h" && $2 != "base" { edges = edges sprintf("    \"%s\" -> \"%s\"\n", $1, $2) }
{ seen[$1] = seen[$2] = 1 }
END {
    print "digraph rooms {"
    print "    rankdir=TB; ranksep=0.45; nodesep=0.2; fontname=\"sans-serif\""
    print "    node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"sans-serif\", fontsize=11, height=0.35]"
    print "    edge [color=\"#666666\", arrowsize=0.6]"
    while ((getline row < "tests/rooms.txt") > 0) {
        if (row ~ /^#/)
            continue
        room = row; sub(/:.*/, "", room)
        top = room; sub(/\/.*/, "", top)
        short = room; sub(/^[^\/]*\//, "", short)
        if (top != last) {
            if (open)
                print "    }"
            last = top
            open = room != top
            if (open)
                printf "    subgraph \"cluster_%s\" { label=\"%s\"; style=\"rounded,filled\"; color=\"#dddddd\"; fillcolor=\"#f6f6f6\"\n", top, top
        }
        printf "        \"%s\" [label=\"%s\"]\n", room, short
    }
    print "    }"
    print "    { rank=sink; \"base\" }"
    printf "%s}\n", edges
}'
