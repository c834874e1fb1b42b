#!/bin/sh
# lscm report on the command line, and the page that lscm fit leaves: every section, a page that any XML
# parser takes, nothing fetched, names that are no HTML, the command that repeats the run; and, where there
# is a browser, nothing in its console.
# shellcheck source=tests/testing.sh
. "$(dirname "$0")/testing.sh"

# sections RUN ID...: those and no others, in that order
sections() {
    count=$((count + 1))
    run=$1
    shift
    sed -n 's/^<section id="\([a-z]*\)".*/\1/p' "$run/report.html" | tr '\n' ' ' >output
    [ "$(cat output)" = "$* " ] || bad "$run: not the sections $*"
}

# sound FILE: well-formed, and nothing comes from elsewhere
sound() {
    count=$((count + 1))
    if command -v xmllint >/dev/null 2>&1; then
        xmllint --noout "$1" >output 2>&1 || bad "$1 is not well-formed"
    elif command -v python3 >/dev/null 2>&1; then
        python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$1" >output 2>&1 ||
            bad "$1 is not well-formed"
    fi
    grep -nE '://|<script|<link|<iframe|@import|url\(|<object|<embed' "$1" >output && bad "$1 fetches something"
    grep -oE '(src|href)="[^"]{0,20}' "$1" | grep -vE '="(data:image/png;|#)' >output && bad "$1 refers to something"
    # what a reader who does not see needs
    grep -q '<html lang="en">' "$1" || bad "$1: no language"
    grep -q '<title>.*</title>' "$1" || bad "$1: no title"
    [ "$(grep -c '<h1' "$1")" = 1 ] || bad "$1: not one h1"
    [ "$(grep -o '<img' "$1" | wc -l)" = "$(grep -o ' alt="[^"]' "$1" | wc -l)" ] || bad "$1: pictures without alt"
    grep '<th' "$1" | grep -v 'scope="' | grep -v '<thead' >output && bad "$1: a heading without scope"
    return 0
}

# repeats RUN: the command on the page gives the same posterior
repeats() {
    count=$((count + 1))
    rm -rf again.run
    sed -n 's|.*<pre><code>lscm \(.*\)</code></pre>|\1|p' "$1/report.html" |
        sed 's/&lt;/</g; s/&gt;/>/g; s/&quot;/"/g; s/&#39;/'"'"'/g; s/&amp;/\&/g' >command.txt
    # shellcheck disable=SC2016 # $1 is for again.sh
    { printf '"$1" '; cat command.txt; } >again.sh
    sh again.sh "$lscm" >output 2>&1 || bad "$1: $(cat command.txt)"
    cmp "$1/posterior.nc" again.run/posterior.nc >output 2>&1 || bad "$1: another posterior"
}

# ---- help and wrong words
succeeds "Examples:" "$lscm" report --help
succeeds ".SH OPTIONS" "$lscm" help --man report
succeeds "report" "$lscm" help --completion
refuses 2 "name the run to report on" "$lscm" report
refuses 2 "one argument too many" "$lscm" report a.run b.html
refuses 2 "did you mean --truth?" "$lscm" report a.run --truht dag.csv
refuses 1 "there is no such run folder" "$lscm" report a.run

# ---- with a truth: lscm fit leaves the page that lscm report makes
succeeds "" "$lscm" simulate --preset paper-linear --nodes 4 --degree 1.5 --seed 3 --sets 12 --per-set 20 --out lin.nc
succeeds "" "$lscm" fit lin.nc --quiet
sections lin.run graph checks weights posteriors order nodes latents scores repeat
sound lin.run/report.html
succeeds "page.html: open it in a browser" "$lscm" report lin.run --out page.html
succeeds "" cmp page.html lin.run/report.html
succeeds "exactly right" cat page.html
succeeds "Content-Security-Policy" cat page.html
repeats lin.run
refuses 1 "exists" "$lscm" report lin.run --out page.html
succeeds "" "$lscm" report lin.run/ --out page.html --force --quiet --threads 1
succeeds "" cmp page.html lin.run/report.html
succeeds "lin.run/report.html" "$lscm" report lin.run

# ---- without: the data have gone; other data; data that are not those any more
mv lin.nc moved.nc
succeeds "" "$lscm" report lin.run --quiet
sections lin.run graph checks weights posteriors order nodes repeat
succeeds "" "$lscm" report lin.run --truth moved.nc --quiet
sections lin.run graph checks weights posteriors order nodes latents scores repeat
printf '0,1,0,0\n0,0,0,0\n0,0,0,1\n0,0,0,0\n' >dag.csv
succeeds "" "$lscm" report lin.run --truth dag.csv --quiet
sections lin.run graph checks weights posteriors order nodes scores repeat
refuses 1 "there is no graph" "$lscm" report lin.run --truth lin.run/posterior.nc --out x.html
succeeds "" "$lscm" simulate --preset paper-linear --nodes 5 --sets 3 --per-set 5 --out lin.nc
refuses 1 "they must match" "$lscm" report lin.run --truth lin.nc --out x.html
succeeds "the report is without the truth" "$lscm" report lin.run
sections lin.run graph checks weights posteriors order nodes repeat

# ---- no Graphviz
mkdir bin
count=$((count + 1))
PATH="$work/bin" "$lscm" report lin.run --out circle.html >output 2>&1 || bad "without dot"
sound circle.html
succeeds "stand on a circle" cat circle.html

# ---- observed variables with names that are no HTML, knowledge, settings with odd words
printf '%s\n' "a<b>,it's,\"q \"\"&\",target" >"odd 'name'.csv"
awk 'BEGIN { srand(7); for (i = 0; i < 60; i++) { t = i % 3 == 0 ? 0 : -1; a = 4 * rand(); b = 2 * a + rand();
    printf "%.6f,%.6f,%.6f,%d\n", a, b, b - a + rand(), t } }' >>"odd 'name'.csv"
succeeds "" "$lscm" fit "odd 'name'.csv" --out odd.run --tiers "a<b>;it's" --forbid 'q "&->a<b>' --seed 5 --quiet
sections odd.run graph checks weights posteriors order nodes repeat
sound odd.run/report.html
succeeds "a&lt;b&gt; → it&#39;s" cat odd.run/report.html
repeats odd.run

# ---- pictures, networks and their curves
succeeds "" "$lscm" simulate --preset paper-image --nodes 3 --seed 1 --sets 10 --per-set 20 --observational 50 --out img.nc
succeeds "" "$lscm" fit img.nc --quiet --draws 100
sections img.run graph checks weights posteriors order nodes latents pictures scores repeat
sound img.run/report.html
repeats img.run
succeeds "" "$lscm" fit moved.nc --method biols --steps 60 --samples 8 --restarts 1 --trace 10 --draws 64 --out bi.run --quiet
sections bi.run graph weights posteriors order nodes latents training scores repeat
sound bi.run/report.html
repeats bi.run

# ---- a browser, where there is one
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || browser=
if [ -n "$browser" ] && [ -z "${LSCM_SANITIZED:-}" ]; then
    for run in img odd; do
        count=$((count + 1))
        HOME="$work" timeout 3000 "$browser" --headless=new --no-sandbox --disable-gpu --window-size=390,844 \
            --enable-logging=stderr --screenshot="$work/shot.png" "file://$work/$run.run/report.html" >console 2>&1
        grep CONSOLE console >output && bad "$run.run: the browser complains"
        [ -s shot.png ] || { tail -3 console >output; bad "$run.run: the browser shows nothing"; }
        rm -f shot.png
    done
else
    echo "no browser: its part is skipped"
fi
finish
