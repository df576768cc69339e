package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A test is one function of a test binary.
type test struct {
	binary, folder, name string

	took    time.Duration // of a processor
	reached []bool        // by the number of the fault
}

// compile makes the test binary of a folder and lists its tests.
func compile(folder, overlay, binary string) ([]test, error) {
	build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, ".")
	build.Dir = folder
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", folder, err, out)
	}
	if _, err := os.Stat(binary); errors.Is(err, fs.ErrNotExist) { // a folder without tests
		return nil, nil
	}
	list := exec.Command(binary, "-test.list", "^(Test|Fuzz|Example)")
	list.Dir = folder
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	var tests []test
	for name := range strings.FieldsSeq(string(out)) {
		tests = append(tests, test{binary: binary, folder: folder, name: name})
	}
	return tests, nil
}

// measure runs a test without a fault and notes which places it reaches. It reports whether the
// test passed.
func (t *test) measure(faults int) bool {
	record := t.binary + ".reached"
	_ = os.Remove(record)
	passed := false
	t.took, passed = execute(t.binary, t.folder, []string{t.name}, time.Minute, "MUTATE_RECORD="+record)
	t.reached = make([]bool, faults+1)
	data, _ := os.ReadFile(record)
	for line := range bytes.Lines(data) {
		if id, err := strconv.Atoi(string(bytes.TrimSpace(line))); err == nil && id <= faults {
			t.reached[id] = true
		}
	}
	return passed
}

// notice reports whether one of the tests fails with a fault. The fast ones are run first.
func notice(tests []test, id int) bool {
	const fast = 300 * time.Millisecond
	for _, slow := range []bool{false, true} {
		names, folders, took := map[string][]string{}, map[string]string{}, map[string]time.Duration{}
		for _, t := range tests {
			if t.reached[id] && (t.took >= fast) == slow {
				names[t.binary] = append(names[t.binary], t.name)
				folders[t.binary] = t.folder
				took[t.binary] += t.took
			}
		}
		for binary, some := range names {
			if _, passed := execute(binary, folders[binary], some, 5*time.Second+4*took[binary],
				"MUTATE_FAULT="+strconv.Itoa(id)); !passed {
				return true
			}
		}
	}
	return false
}

// execute runs tests of a binary. It returns the processor time that they took, and whether all
// passed. The limit is one of processor time, which does not depend on other programs; a fault
// that makes tests wait for ever has longer.
func execute(binary, folder string, names []string, limit time.Duration, env string) (time.Duration, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second+5*limit)
	defer cancel()
	// A fault can make a loop endless: memory is limited, too.
	cmd := exec.CommandContext(ctx, "sh", "-c", `ulimit -v 3000000; ulimit -t "$1"; shift; exec "$@"`, "sh",
		fmt.Sprintf("%.0f", limit.Seconds()),
		binary, "-test.failfast", "-test.run", "^("+strings.Join(names, "|")+")$")
	cmd.Dir, cmd.WaitDelay = folder, time.Second
	cmd.Env = append(os.Environ(), env, "TMPDIR="+filepath.Dir(binary))
	err := cmd.Run()
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), err == nil
}
