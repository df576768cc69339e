package account

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
)

// A tracer prints requests and responses, for people who look for what is between them and the service, such as
// a proxy. It prints no login.
type tracer struct {
	next    http.RoundTripper
	shell   *shell.Shell
	service *Service
	count   atomic.Int64
}

// secret are headers whose values are not printed.
var secret = []string{"Authorization", "Proxy-Authorization", "Proxy-Authenticate", "Cookie", "Set-Cookie"}

func (t *tracer) RoundTrip(req *http.Request) (*http.Response, error) {
	n := t.count.Add(1)
	t.print(n, ">", "%s %s", req.Method, req.URL.Redacted())
	if proxy, err := http.ProxyFromEnvironment(req); err == nil && proxy != nil {
		t.print(n, ">", "by the proxy %s", proxy.Redacted())
	}
	t.headers(n, ">", req.Header)
	if req.ContentLength > 0 {
		t.print(n, ">", "a body of %s", shell.Count(req.ContentLength, "byte"))
	}
	begin := time.Now()
	res, err := t.next.RoundTrip(req)
	took := time.Since(begin).Round(time.Millisecond)
	if err != nil {
		t.print(n, "<", "no response after %s: %v", took, err)
		return res, err
	}
	t.print(n, "<", "%s %s after %s", res.Proto, res.Status, took)
	t.headers(n, "<", res.Header)
	const most = 1000
	start := make([]byte, most)
	read, failed := io.ReadFull(res.Body, start)
	start = start[:read]
	whole := errors.Is(failed, io.EOF) || errors.Is(failed, io.ErrUnexpectedEOF)
	for line := range strings.Lines(string(start)) {
		t.print(n, "<", "%s", strings.TrimRight(line, "\r\n"))
	}
	if !whole {
		t.print(n, "<", "…")
	}
	res.Body = &begun{io.MultiReader(bytes.NewReader(start), res.Body), res.Body}
	return res, nil
}

// begun is a body of which a part has been read.
type begun struct {
	io.Reader
	io.Closer
}

func (t *tracer) headers(n int64, mark string, all http.Header) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		value := strings.Join(all[name], ", ")
		if slices.Contains(secret, name) {
			value = "(not shown)"
		}
		t.print(n, mark, "%s: %s", name, value)
	}
}

// print prints a line with the number of its request, without the login, which a proxy may repeat.
func (t *tracer) print(n int64, mark, format string, args ...any) {
	cfg := t.service.Config
	var pairs []string
	for _, text := range []string{
		cfg.Password, cfg.Token, base64.StdEncoding.EncodeToString([]byte(cfg.Username + ":" + cfg.Password)),
	} {
		if text != "" {
			pairs = append(pairs, text, "(not shown)")
		}
	}
	t.shell.Warn("%d %s %s", n, mark, strings.NewReplacer(pairs...).Replace(fmt.Sprintf(format, args...)))
}
