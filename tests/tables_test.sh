#!/bin/sh
# Tables as people have them: latent data keep everything, what do() acted on is asked for and said
# by one flag, and files of other programs are read.
# shellcheck source=tests/testing.sh
. "$(dirname "$0")/testing.sh"

# ---- latent data through a table and back: the same fit
"$lscm" simulate --nodes 3 --features 8 --sets 6 --per-set 20 --observational 40 --seed 4 --out latent.npz --quiet
succeeds "left out: w, sigma, order" "$lscm" convert latent.npz latent.csv
succeeds "values  160 x 3" "$lscm" info latent.csv
succeeds "z       160 x 3" "$lscm" info latent.csv
succeeds "" "$lscm" convert latent.npz latent.tsv --quiet
for file in latent.npz latent.csv latent.tsv; do
    succeeds "" "$lscm" fit "$file" --out "$file.run" --draws 50 --quiet
    "$lscm" export "$file.run" "$file.edges.csv" --quiet
done
succeeds "" cmp latent.npz.edges.csv latent.csv.edges.csv
succeeds "" cmp latent.npz.edges.csv latent.tsv.edges.csv
succeeds "do:0,do:1,do:2,z:0,z:1,z:2" sh -c "\"$lscm\" sample latent.npz.run --draws 3 --out s.csv --quiet && head -n 1 s.csv"

# ---- the intervention column by another name: one flag, which the sentence says
printf 'raf,mek,Condition\n' >cells.csv
awk 'function n(  k, s) { s = -6; for (k = 0; k < 12; k++) s += rand(); return s }
    BEGIN { srand(1); for (i = 0; i < 90; i++) { r = n(); print r "," (i % 3 == 2 ? n() : 2 * r + n()) "," (i % 3 == 0 ? "dmso" : i % 3 == 1 ? "raf" : "raf;mek") } }' >>cells.csv
refuses 1 "is 'Condition' the intervention column? --target-column Condition" "$lscm" fit cells.csv
succeeds "raf:60 mek:30" "$lscm" info cells.csv --target-column Condition
refuses 1 "--control 'dmso'" "$lscm" info cells.csv --target-column Condition --control scramble
succeeds "raf:60 mek:30" "$lscm" info cells.csv --target-column Condition --control 'Scramble,DMSO'
refuses 2 "did you mean 'Condition'" "$lscm" info cells.csv --target-column Condtion
succeeds "" "$lscm" fit cells.csv --target-column Condition --draws 20 --quiet
succeeds '"target_column": "Condition"' cat cells.run/config.json
succeeds "--target-column Condition" cat cells.run/report.html
"$lscm" check cells.csv --target-column Condition >checked 2>&1 || [ $? = 3 ] # may find something
succeeds "constant good" cat checked
succeeds "of 90 rows" "$lscm" transform cells.run cells.csv --target-column Condition --out z.npz
refuses 2 "--target-column is for tables" "$lscm" info latent.npz --target-column x
refuses 2 "are for data files" "$lscm" export cells.run graph.dot --control none
for command in fit info check convert export transform; do
    for flag in --target-column --value-column --control; do
        succeeds "$flag=" "$lscm" $command --help
        succeeds "$flag" sh -c "'$lscm' help --man $command | tr -d '\\\\'"
        succeeds "$flag" "$lscm" help --completion
    done
done

# ---- latent variables: targets that are no columns, and their values
printf 'a,b,c,guide,dose\n1,2,3,NT,\n2,1,0,p,1.5\n0,1,1,q;p,2;-1\n3,1,2,q,1\n' >guides.csv
refuses 1 "--target-column guide" "$lscm" info guides.csv
refuses 1 "--value-column NAME" "$lscm" info guides.csv --target-column guide --ignore dose
succeeds "p:2 q:2" "$lscm" info guides.csv --target-column guide --value-column dose

# ---- files of other programs
printf '"","raf","mek","target"\n"1",0.5,1,"none"\n"2",1.5,2,"raf"\n"3",2.5,2,"mek"\n' >r.csv
succeeds "note: the first column has no name" "$lscm" info r.csv
succeeds '"note": "the first column' "$lscm" info r.csv --json
succeeds "note: the first column has no name" "$lscm" fit r.csv --draws 8
"$lscm" fit r.csv --draws 8 --force --json --out again.run >fitted.json 2>said
succeeds '"note":"the first column' cat fitted.json
succeeds "note: the first column" head -n 1 said
"$lscm" fit r.csv --draws 8 --force --quiet >said 2>&1
succeeds "" test ! -s said
"$lscm" check r.csv --json >checked.json 2>said || [ $? = 3 ]
succeeds '"note": "the first column' cat checked.json
succeeds "note: the first column" cat said
"$lscm" check r.csv --quiet >said 2>&1 || [ $? = 3 ]
succeeds "" test ! -s said
printf '\357\273\277raf;mek;target\r\n0,5;1;\r\n1,5;2;raf\r\n2,5;2;mek\r\n' >excel.csv
succeeds "decimal commas" "$lscm" info excel.csv
gzip -c excel.csv >packed.csv.gz
succeeds "raf:1 mek:1" "$lscm" info packed.csv.gz
succeeds "" "$lscm" convert packed.csv.gz plain.tsv --quiet
succeeds "raf:1 mek:1" "$lscm" info plain.tsv
succeeds "" "$lscm" fit packed.csv.gz --draws 8 --quiet
succeeds "" test -d packed.run
head -c 40 packed.csv.gz >broken.csv.gz
refuses 1 "broken.csv.gz: cannot be unpacked" "$lscm" info broken.csv.gz
refuses 2 "can be read but not written" "$lscm" convert excel.csv out.csv.gz
# ---- x without any number: JSON, which has no NaN, was empty
printf 'raf,mek,target\nNA,NA,\n,NaN,raf\nNA,,mek\n' >none.csv
succeeds "x holds no number: all its 6 entries are missing" "$lscm" info none.csv
succeeds '"x_min": null, "x_max": null, "x_mean": null, "x_sd": null, "missing": 6' "$lscm" info none.csv --json
refuses 1 "none.csv: 'x' holds no number: all its entries are missing (NaN)" "$lscm" fit none.csv --out none.run
succeeds "" test ! -e none.run
finish
