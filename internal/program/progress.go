package program

import (
	"fmt"
	"io"
	"os"
	"time"
)

// A meter shows progress: in one line of a terminal that is redrawn, elsewhere as a line
// now and then.
type meter struct {
	terminal bool
	pause    time.Duration // between two updates
	shown    time.Time
	latest   string
	drawn    bool // the line is on the terminal
}

const (
	terminalPause = 100 * time.Millisecond
	linePause     = 30 * time.Second
)

// Progress shows the progress of the work, such as "3,000 of 10,000 rows", on standard error:
// always in the same line of a terminal, and elsewhere as a line every 30 seconds. Nothing
// is shown with -quiet. Progress and other printing must happen in one goroutine.
func (p *Program) Progress(format string, args ...any) {
	if p.quiet {
		return
	}
	now := time.Now()
	if p.meter == nil {
		p.meter = &meter{pause: linePause, shown: now}
		if isTerminal(p.Stderr) {
			p.meter = &meter{terminal: true, pause: terminalPause}
		}
	}
	m := p.meter
	m.latest = fmt.Sprintf(format, args...)
	if now.Sub(m.shown) < m.pause {
		return
	}
	m.shown = now
	if !m.terminal {
		fmt.Fprintln(p.Stderr, m.latest)
		return
	}
	fmt.Fprintf(p.Stderr, "\r%s\x1b[K", m.latest) // replaces the last one
	m.drawn = true
}

// clearProgress removes the line from the terminal before other text.
func (p *Program) clearProgress() {
	if p.meter != nil && p.meter.drawn {
		fmt.Fprint(p.Stderr, "\r\x1b[K")
		p.meter.drawn = false
	}
}

// Data returns standard output for a program that also shows its progress: the progress
// line is removed before each write.
func (p *Program) Data() io.Writer { return beside{p, p.Stdout} }

// Words returns standard error in the same way, for more than [Program.Warn] is for.
func (p *Program) Words() io.Writer { return beside{p, p.Stderr} }

// beside writes beside the progress.
type beside struct {
	program *Program
	to      io.Writer
}

func (b beside) Write(text []byte) (int, error) {
	b.program.clearProgress()
	return b.to.Write(text)
}

// endProgress leaves the last state on the terminal.
func (p *Program) endProgress() {
	if p.meter != nil && p.meter.drawn {
		fmt.Fprintf(p.Stderr, "\r%s\x1b[K\n", p.meter.latest)
		p.meter.drawn = false
	}
}

func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
