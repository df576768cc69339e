package shell

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// Say prints a line for people on standard error, unless --quiet is given.
func (s *Shell) Say(format string, args ...any) {
	if !s.Quiet {
		s.Warn(format, args...)
	}
}

// Warn prints a line on standard error, with --quiet, too.
func (s *Shell) Warn(format string, args ...any) {
	lines := strings.Split(fmt.Sprintf(format, args...), "\n")
	for i, line := range lines { // such as a value of a damaged file
		const most, end = 2000, 500
		if runes := []rune(line); len(line) > most && len(runes) > most {
			lines[i] = string(runes[:most-end]) + " … " + string(runes[len(runes)-end:])
		}
	}
	s.print(s.Stderr, strings.Join(lines, "\n")+"\n")
}

// WarnOnce is Warn for what may be found several times, perhaps with a difference in case.
func (s *Shell) WarnOnce(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.mu.Lock()
	key := strings.ToLower(text)
	isNew := !s.warned[key]
	if s.warned == nil {
		s.warned = map[string]bool{}
	}
	s.warned[key] = true
	s.mu.Unlock()
	if isNew {
		s.Warn("%s", text)
	}
}

// Result prints on standard output what was done: with --json the object, otherwise the line,
// which --quiet leaves out. What cannot be written to standard output is repeated on standard error, because
// it may be known nowhere else, and the exit code is not 0.
func (s *Shell) Result(object any, format string, args ...any) {
	line := Tame(s.unspooled(fmt.Sprintf(format, args...)) + "\n")
	switch {
	case s.JSON:
		line = jsonLine(object)
	case s.Quiet:
		return
	}
	_, _ = io.WriteString(s.Results(), line) // it never fails
}

// Answer prints on standard output what was asked for, as an object or as a line, with --quiet,
// too. Unlike a result, it can be asked for again where it was not written; the exit code is not 0 then.
func (s *Shell) Answer(object any, format string, args ...any) {
	line := Tame(s.unspooled(fmt.Sprintf(format, args...)) + "\n")
	if s.JSON {
		line = jsonLine(object)
	}
	if _, err := io.WriteString(s.Data(), line); err != nil && s.unanswered == nil {
		s.unanswered = err
	}
}

// Results returns standard output for what was done, like Result, but in any form and with
// --quiet, too. Writing to it never fails.
func (s *Shell) Results() io.Writer { return results{s} }

type results struct{ *Shell }

func (r results) Write(text []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clearProgress()
	if r.output == nil {
		_, err := r.Stdout.Write(text)
		r.output = Unwritten(err)
	}
	if r.output != nil {
		_, _ = r.Stderr.Write(text) // there is no other output
	}
	return len(text), nil
}

// Notes returns standard error, for a table that people read before they answer a question. A text is
// written as it is.
func (s *Shell) Notes() io.Writer { return notes{s} }

type notes struct{ *Shell }

func (n notes) Write(text []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.clearProgress()
	_, _ = n.Stderr.Write(text) // there is no other output
	return len(text), nil
}

// Data returns standard output for data that were asked for, such as records. They are printed
// with --quiet, too.
func (s *Shell) Data() io.Writer { return data{s} }

type data struct{ *Shell }

func (d data) Write(text []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clearProgress()
	n, err := d.Stdout.Write(text)
	return n, Unwritten(err)
}

// Object prints an object as one line of JSON on standard output.
func (s *Shell) Object(object any) error {
	_, err := io.WriteString(s.Data(), jsonLine(object))
	return err
}

func jsonLine(object any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(object); err != nil {
		panic(err) // it is made by the program
	}
	var line strings.Builder
	for _, r := range b.String() { // what would control a terminal, as JSON may write it
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) && r <= 0xffff {
			fmt.Fprintf(&line, `\u%04x`, r)
		} else {
			line.WriteRune(r)
		}
	}
	return line.String()
}

// Unwritten marks the error of a write to standard output, nil if there is none.
func Unwritten(err error) error {
	switch {
	case err == nil:
		return nil
	case isClosedPipe(err):
		return Refused(errClosed)
	}
	return Refused(fmt.Errorf("standard output cannot be written: %w; print to another place", err))
}

// errClosed is that of a pipe whose reader has read enough. Where it has ended nothing but
// printing, the exit code alone tells it.
var errClosed = errors.New("standard output was closed before everything was printed")

func (s *Shell) print(to io.Writer, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clearProgress()
	_, _ = io.WriteString(to, Tame(s.unspooled(text))) // there is no other output
}

// Tame replaces what would control a terminal, but for line breaks and tabs.
func Tame(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return '?'
		}
		return r
	}, text)
}

// Tamed returns a writer like Tame, where the stream is a terminal: for data with texts that anybody has
// written. A file or a pipe gets the data as they are.
func Tamed(out io.Writer) io.Writer {
	if !IsTerminal(out) {
		return out
	}
	return &tamed{out: out}
}

type tamed struct {
	out  io.Writer
	rest []byte // the beginning of a character
	some bool
}

func (t *tamed) Write(text []byte) (int, error) {
	all := append(t.rest, text...)
	if !t.some {
		all = bytes.TrimPrefix(all, []byte("\ufeff")) // of a table for spreadsheet programs
	}
	t.some = true
	end := len(all)
	for end > 0 && len(all)-end < utf8.UTFMax && !utf8.RuneStart(all[end-1]) {
		end--
	}
	if end > 0 && !utf8.FullRune(all[end-1:]) {
		end--
	} else {
		end = len(all)
	}
	t.rest = slices.Clone(all[end:])
	_, err := io.WriteString(t.out, Tame(strings.ReplaceAll(string(all[:end]), "\r\n", "\n")))
	return len(text), err
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	file, ok := file(stream)
	return ok && term.IsTerminal(int(file.Fd()))
}

// file is the file behind a stream.
func file(stream any) (f *os.File, ok bool) {
	switch out := stream.(type) {
	case data:
		stream = out.Stdout
	case results:
		stream = out.Stdout
	case notes:
		stream = out.Stderr
	}
	f, ok = stream.(*os.File)
	return f, ok
}

// width is how many columns a terminal has.
func width(stream any) int {
	const usual = 80
	if file, ok := file(stream); ok {
		if columns, _, err := term.GetSize(int(file.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return usual
}

// A Style is how a text looks on a terminal.
type Style string

// The styles.
const (
	Bold   Style = "1"
	Faint  Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
)

// Styled returns a text as it looks on a stream. It stays as it is where the stream is not a
// terminal, or NO_COLOR is set.
func (s *Shell) Styled(stream io.Writer, style Style, text string) string {
	if text == "" || !s.draws(stream) || s.Getenv("NO_COLOR") != "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}

// draws reports whether a stream is a terminal that takes more than lines.
func (s *Shell) draws(stream io.Writer) bool {
	out, _ := file(stream)
	return IsTerminal(stream) && s.Getenv("TERM") != "dumb" && takesEscapes(out)
}

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

// Moment is a time to the second, in UTC.
func Moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// Count writes a number of things, such as "1 DOI" and "1,200 DOIs".
func Count[N int | int64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Number(n) + " " + thing + "s"
}

// Clean takes out what would control a terminal or break a line: titles hold what anybody has
// written into them.
func Clean(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
	}), " ")
}

// Quoted is a value, cut.
func Quoted(text string) string {
	if text == "" {
		return "nothing"
	}
	return fmt.Sprintf("%.60q", text)
}
