package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"time"
)

// newRequestLog makes a logger that prints one short line for each request.
func newRequestLog(out io.Writer) *slog.Logger {
	return slog.New(requestLog{out})
}

// requestLog is a slog.Handler for the records of the clients.
type requestLog struct{ out io.Writer }

func (requestLog) Enabled(context.Context, slog.Level) bool { return true }
func (l requestLog) WithAttrs([]slog.Attr) slog.Handler     { return l }
func (l requestLog) WithGroup(string) slog.Handler          { return l }

func (l requestLog) Handle(_ context.Context, r slog.Record) error {
	values := map[string]slog.Value{}
	r.Attrs(func(a slog.Attr) bool {
		values[a.Key] = a.Value
		return true
	})
	address, err := url.QueryUnescape(values["url"].String())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(l.out, "    %-6s %s -> %v in %v %s\n", values["method"], pathOf(address),
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
	return v.String()
}
