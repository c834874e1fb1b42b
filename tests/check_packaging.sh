#!/bin/sh
# What is written down in several places says the same in all: the version in lscm.h and debian/changelog;
# the packages that ./dev build installs in debian/control, in the sentence that ends a failed pip install
# and in docs/install.md.
set -eu
cd "$(dirname "$0")/.."
bad=0

wrong() {
    echo "$*" >&2
    bad=1
}

# list NAME: the words of a list of ./dev
list() {
    awk -v name="$1" 'BEGIN { RS = "\"" } found { print; exit } { found = $0 ~ ("\n" name "=$") }' dev
}

# said FILE WORD...: each is a word of the file
said() {
    file=$1
    shift
    for word; do
        tr -s ' ,|`"\\\n' '\n' <"$file" | grep -qxF -- "$word" || wrong "$file does not name $word, which ./dev does"
    done
}

version=$(sed -n 's/^#define LSCM_VERSION "\(.*\)"/\1/p' include/lscm.h)
grep -q "^lscm ($version) " debian/changelog || wrong "debian/changelog does not begin with $version, of include/lscm.h"
soname=${version%.*}
[ -f "debian/liblscm$soname.install" ] || wrong "debian has no package of liblscm.so.$soname"

# Needed to run or by Debian anyway; a Python that runs pip is there.
compiled=$(list BUILD_PACKAGES | tr -s ' ' '\n' | grep -vxE 'graphviz|gnuplot-nox|python3-venv|')
# shellcheck disable=SC2046,SC2086 # lists of packages are words
{
    said pyproject.toml $compiled
    said pyproject.toml $(list CONDA_BUILD | tr -s ' ' '\n' | grep -vxE 'graphviz|gnuplot|python|pip|')
    said debian/control $(echo "$compiled" | grep -vxE 'gcc|libc6-dev')
    said docs/install.md $(list BUILD_PACKAGES) $(list DEB_PACKAGES) $(list CONDA_BUILD)
}
exit $bad
