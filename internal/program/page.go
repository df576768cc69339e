package program

import (
	"bufio"
	_ "embed"
	"errors"
	"html/template"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A Page is an HTML file that is being written. A regular file gets its name when it is
// complete, also through a symbolic link; anything else, such as a pipe, is written to.
type Page struct {
	name string   // of the file, without symbolic links
	file *os.File // until it is saved
	temp bool     // the file is renamed to name
}

// NewPage creates the file, so that a bad name is an error before the work begins.
func NewPage(name string) (*Page, error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return nil, &fs.PathError{Op: "write", Path: name, Err: errors.New("is a folder; give the name of a file")}
	case err == nil && !info.Mode().IsRegular():
		file, err := os.OpenFile(name, os.O_WRONLY, 0)
		return &Page{name: name, file: file}, err
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	target := name
	for link, err := os.Readlink(name); err == nil; link, err = os.Readlink(target) { // its end may not exist yet; Stat refuses a circle
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(target), link)
		}
		target = link
	}
	file, err := os.CreateTemp(filepath.Dir(target), ".page-*")
	if fault, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, &fs.PathError{Op: "create", Path: name, Err: fault.Err}
	}
	return &Page{name: target, file: file, temp: true}, err
}

// Discard removes an unsaved file.
func (p *Page) Discard() {
	if p.file == nil {
		return
	}
	_ = p.file.Close()
	if p.temp {
		_ = os.Remove(p.file.Name())
	}
}

// Save executes a template with the data, and writes the page.
func (p *Page) Save(t *template.Template, data any) error {
	const readable = 0o644
	out := bufio.NewWriter(p.file)
	steps := []func() error{
		func() error { return t.Execute(out, data) },
		out.Flush,
		p.file.Close,
	}
	if p.temp {
		steps = slices.Insert(steps, 2, func() error { return p.file.Chmod(readable) })
		steps = append(steps, func() error { return os.Rename(p.file.Name(), p.name) })
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	p.file = nil
	return nil
}

//go:embed page.css
var style string

// Style is the style sheet of the programs' pages, for their style element.
func Style() template.CSS { return template.CSS(style) }

// Number writes a number with commas.
func Number[N int | int64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "−", digits[1:]
	}
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return sign + digits
}

// Count writes a number of things, such as "1 DOI" and "1,200 DOIs".
func Count[N int | int64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Number(n) + " " + thing + "s"
}

// Clean replaces characters of a text that would control a terminal.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}
