package record

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/reconcile"
)

// A Kept keeps the XML of corrections that take two writes on disk, until both are done: between them, the service has
// the XML no longer, and a command that is killed has it nowhere else.
type Kept struct {
	shell  *shell.Shell
	folder string

	mu    sync.Mutex
	files map[string]string // by DOI
}

const keptSuffix = ".unfinished.xml"

// NewKept keeps files beside another one; "" and "-" mean the working directory. It warns of those that
// an earlier run has left there.
func NewKept(s *shell.Shell, beside string) (*Kept, error) {
	k := &Kept{shell: s, folder: ".", files: map[string]string{}}
	if beside != "" && beside != "-" {
		k.folder = filepath.Dir(beside)
	}
	entries, err := os.ReadDir(k.folder)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), keptSuffix) {
			s.Warn("a correction was interrupted between its two writes; %s", advice(filepath.Join(k.folder, e.Name())))
		}
	}
	return k, nil
}

func advice(file string) string {
	return fmt.Sprintf("%[1]s has the XML, which \"datacite register %[1]s\" stores again; then delete the file", file)
}

// Keep is a function for reconcile.Options.BeforeWrite.
func (k *Kept) Keep(_ context.Context, o *reconcile.Outcome) error {
	name := doi.Key(o.Desired.DOI)
	if o.Then == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	file := filepath.Join(k.folder, fileOf(name))
	if _, err := os.Lstat(file); err == nil && k.files[name] == "" {
		return fmt.Errorf("%s: a correction was interrupted between its two writes; %s", name, advice(file))
	}
	const private = 0o600
	err := shell.WriteFile(file, private, func(w io.Writer) error { _, err := w.Write(o.Then.MetadataXML); return err })
	if err == nil {
		k.files[name] = file
		err = shell.SyncFolder(file)
	}
	if err != nil {
		return shell.Wrong(fmt.Errorf("the XML of %s cannot be kept, and nothing was sent: %w", name, err))
	}
	return nil
}

// Settle removes the file of a DOI after its last try, unless its XML was not stored again.
func (k *Kept) Settle(name string, err error) error {
	name = doi.Key(name)
	k.mu.Lock()
	defer k.mu.Unlock()
	file := k.files[name]
	if file == "" {
		return nil
	}
	delete(k.files, name)
	if errors.Is(err, reconcile.ErrHalfWritten) {
		k.shell.Warn("the second of two writes failed; %s", advice(file))
		return nil
	}
	return os.Remove(file)
}

// fileOf is a name for the file of a DOI, for all systems.
func fileOf(name string) string {
	isPlain := true
	file := strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune(".-_", r)) {
			return r
		}
		isPlain = false
		return '_'
	}, strings.Replace(name, "/", "-", 1))
	if !isPlain || len(file) > 100 {
		sum := sha256.Sum256([]byte(name))
		file = fmt.Sprintf("%.100s-%x", file, sum[:8])
	}
	return file + keptSuffix
}
