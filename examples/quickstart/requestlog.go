package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"time"
)

// requestLog is a slog.Handler for the records of the clients. It prints one short
// line for each request.
type requestLog struct {
	out   io.Writer
	count int  // of the requests so far
	quiet bool // counts alone
}

func (*requestLog) Enabled(context.Context, slog.Level) bool { return true }
func (l *requestLog) WithAttrs([]slog.Attr) slog.Handler     { return l }
func (l *requestLog) WithGroup(string) slog.Handler          { return l }

func (l *requestLog) Handle(_ context.Context, r slog.Record) error {
	l.count++
	if l.quiet {
		return nil
	}
	values := map[string]slog.Value{}
	r.Attrs(func(a slog.Attr) bool {
		values[a.Key] = a.Value
		return true
	})
	address, err := url.QueryUnescape(values["url"].String())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(l.out, "    %-6s %s -> %v in %v%s\n", values["method"], pathOf(address),
		values["status"], values["duration"].Duration().Round(time.Millisecond), textOf(values["error"]))
	return err
}

// pathOf leaves out the host, which is the same in every line.
func pathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return address[len(u.Scheme)+len("://")+len(u.Host):]
}

func textOf(v slog.Value) string {
	if v.Any() == nil {
		return ""
	}
	return " " + v.String()
}
