package program

import (
	"bufio"
	_ "embed"
	"html/template"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
)

// A Page is an HTML file that is being written. It gets its name when it is complete.
type Page struct {
	name string
	file *os.File // until it is saved
}

// NewPage creates the file, so that a bad name is an error before the work begins.
func NewPage(name string) (*Page, error) {
	file, err := os.CreateTemp(filepath.Dir(name), ".page-*")
	return &Page{name: name, file: file}, err
}

// Discard removes an unsaved file.
func (p *Page) Discard() {
	if p.file != nil {
		_ = p.file.Close()
		_ = os.Remove(p.file.Name())
	}
}

// Save executes a template with the data, and writes the page.
func (p *Page) Save(t *template.Template, data any) error {
	const readable = 0o644
	out := bufio.NewWriter(p.file)
	for _, step := range []func() error{
		func() error { return t.Execute(out, data) },
		out.Flush,
		func() error { return p.file.Chmod(readable) },
		p.file.Close,
		func() error { return os.Rename(p.file.Name(), p.name) },
	} {
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

// Clean replaces characters of a text that would control a terminal.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}
