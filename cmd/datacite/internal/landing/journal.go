package landing

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
)

// A Journal keeps the results of a run that may be interrupted, a line of JSON each. What may be otherwise soon is not
// kept: pages without an answer, and those that were not asked.
type Journal struct {
	file    *os.File
	release func()

	mu     sync.Mutex
	size   int64              // of the file
	places map[[16]byte]int64 // of results of earlier runs
}

// OpenJournal opens a journal, with the results of earlier runs. A second run with it is refused.
func OpenJournal(name string) (j *Journal, err error) {
	j = &Journal{places: map[[16]byte]int64{}}
	if j.release, err = shell.Lock(name); err != nil {
		return nil, err
	}
	if j.file, err = shell.OpenState(name, os.O_RDWR|os.O_CREATE, 0o600); err == nil {
		if err = j.load(); err != nil {
			err = errors.Join(err, j.file.Close())
		}
	}
	if err != nil {
		j.release()
		return nil, shell.Wrong(err)
	}
	return j, nil
}

// load reads the results, and cuts off the last one if a crash broke it.
func (j *Journal) load() error {
	lines := bufio.NewReader(j.file)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			_, err = j.file.Seek(j.size, io.SeekStart)
			return errors.Join(j.file.Truncate(j.size), err)
		}
		if err != nil {
			return err
		}
		var r Result
		if err := json.Unmarshal(line, &r); err != nil || r.Kind == "" {
			return fmt.Errorf("%s, line %d is damaged; remove the file to ask all pages again", j.file.Name(), n)
		}
		j.places[key(r.Page)] = j.size
		j.size += int64(len(line))
	}
}

// key is that of a DOI with its URL, which may have changed since.
func key(p Page) [16]byte {
	sum := sha256.Sum256([]byte(p.DOI + "\x00" + p.URL))
	return [16]byte(sum[:])
}

// Len is how many results of earlier runs there are.
func (j *Journal) Len() int {
	if j == nil {
		return 0
	}
	return len(j.places)
}

// find is the result of an earlier run. The DOI may have another title now.
func (j *Journal) find(page Page) (r Result, ok bool, err error) {
	if j == nil {
		return Result{Page: page}, false, nil
	}
	place, ok := j.places[key(page)] // it does not change any more
	if !ok {
		return Result{Page: page}, false, nil
	}
	const longest = 1 << 20
	if err = json.NewDecoder(io.NewSectionReader(j.file, place, longest)).Decode(&r); err != nil {
		return Result{Page: page}, false, fmt.Errorf("%s: %w", j.file.Name(), err)
	}
	r.Page = page
	return r, true, nil
}

func (j *Journal) put(r Result) error {
	if j == nil || r.Kind == Unreachable || r.Kind == NotAsked {
		return nil
	}
	var line bytes.Buffer
	if err := json.NewEncoder(&line).Encode(r); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	n, err := j.file.Write(line.Bytes())
	j.size += int64(n)
	return err
}

// Close closes the journal, which a later run can continue. One without results is removed.
func (j *Journal) Close() error {
	switch {
	case j == nil:
		return nil
	case j.size == 0:
		return j.Remove()
	}
	defer j.release()
	return j.file.Close()
}

// Remove closes the journal and removes it.
func (j *Journal) Remove() error {
	if j == nil {
		return nil
	}
	defer j.release()
	return errors.Join(j.file.Close(), os.Remove(j.file.Name()))
}
