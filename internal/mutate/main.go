// Command mutate puts small faults into packages, one at a time, and lists those that no test notices.
//
//	go run ./internal/mutate -n 150 ./mds ./query
//
// All faults of a package are compiled into one test binary, where an environment variable
// selects one. A fault is tried with the tests that reach it, at most n of them for each
// package, chosen at random. It is noticed if a test fails or does not end. The sources stay as
// they are.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	log.SetFlags(0)
	most := flag.Int("n", 0, "`faults` tried for each package, chosen at random among those that tests reach; 0 tries all")
	seed := flag.Uint64("seed", 1, "of the choice")
	where := flag.String("at", "", "tries only faults whose `places`, file:line:column, begin with one of these, "+
		"separated by commas")
	others := flag.String("tests", "", "`packages` whose tests are run, too, separated by commas")
	unreached := flag.Bool("unreached", false, "lists the faults that no test reaches")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./internal/mutate [flags] PACKAGE-FOLDER...")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	temp, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		log.Fatal(err)
	}
	for _, folder := range flag.Args() {
		r := run{temp: temp, random: rand.New(rand.NewPCG(*seed, 0)), most: *most, where: strings.Split(*where, ","),
			folders: []string{folder}}
		if *others != "" {
			r.folders = append(r.folders, strings.Split(*others, ",")...)
		}
		result, err := r.do(folder)
		if err != nil {
			_ = os.RemoveAll(temp)
			log.Fatal(err)
		}
		result.print(os.Stdout, *unreached)
	}
	_ = os.RemoveAll(temp)
}

// A run tries the faults of one package.
type run struct {
	temp    string
	random  *rand.Rand
	most    int
	where   []string // beginnings of places; nil for all
	folders []string // of the tests
}

type result struct {
	folder               string
	faults, tried        int // how many
	survivors, unreached []fault
	broken               []string // tests that fail without a fault
}

func (r *run) do(folder string) (*result, error) {
	p, err := load(folder)
	if err != nil {
		return nil, err
	}
	overlay, err := p.overlay(r.temp)
	if err != nil {
		return nil, err
	}
	var tests []test
	done := &result{folder: folder, faults: len(p.faults)}
	for i, tested := range r.folders {
		found, err := compile(tested, overlay, filepath.Join(r.temp, fmt.Sprint(i)))
		if err != nil {
			return nil, err
		}
		for _, t := range found {
			if !t.measure(len(p.faults)) {
				done.broken = append(done.broken, t.name)
				continue
			}
			tests = append(tests, t)
		}
	}
	r.random.Shuffle(len(p.faults), func(i, j int) { p.faults[i], p.faults[j] = p.faults[j], p.faults[i] })
	var todo []fault
	for _, f := range p.faults {
		switch {
		case r.where != nil && !slices.ContainsFunc(r.where, func(start string) bool {
			return strings.HasPrefix(f.place, start)
		}):
		case !slices.ContainsFunc(tests, func(t test) bool { return t.reached[f.id] }):
			done.unreached = append(done.unreached, f)
		case r.most == 0 || len(todo) < r.most:
			todo = append(todo, f)
		}
	}
	inOrder := func(a, b fault) int { return a.id - b.id }
	slices.SortFunc(todo, inOrder)
	slices.SortFunc(done.unreached, inOrder)
	done.tried = len(todo)
	for _, f := range todo {
		if !notice(tests, f.id) {
			done.survivors = append(done.survivors, f)
		}
	}
	return done, nil
}

func (r *result) print(w io.Writer, unreached bool) {
	for _, f := range r.survivors {
		fmt.Fprintf(w, "not noticed: %s\n", f.in(r.folder))
	}
	if unreached {
		for _, f := range r.unreached {
			fmt.Fprintf(w, "not reached: %s\n", f.in(r.folder))
		}
	}
	for _, name := range r.broken {
		fmt.Fprintf(w, "left out, since it fails without a fault: %s\n", name)
	}
	noticed := r.tried - len(r.survivors)
	fmt.Fprintf(w, "%s: %d of %d faults noticed (%.1f %%); %d of all %d are reached by no test\n",
		r.folder, noticed, r.tried, 100*float64(noticed)/float64(max(1, r.tried)), len(r.unreached), r.faults)
}
