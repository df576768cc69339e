package landing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/temoto/robotstxt"
	"golang.org/x/time/rate"
)

// product is the name for which robots.txt has rules.
const product = "datacite"

// A gate lets one request at a time to a host.
type gate struct {
	free    chan struct{}
	limiter *rate.Limiter
	robots  map[string]*robotstxt.Group // by scheme
}

// gateOf is that of a host.
func (c *checker) gateOf(host string) *gate {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.gates[host]
	if g == nil {
		g = &gate{make(chan struct{}, 1), rate.NewLimiter(rate.Limit(cmp.Or(c.opts.Rate, 1)), 1),
			map[string]*robotstxt.Group{}}
		c.gates[host] = g
	}
	return g
}

// request sends a request as the host allows it, once more if the host asks for patience.
func (c *checker) request(ctx context.Context, method string, u *url.URL) (*answer, error) {
	g := c.gateOf(u.Host)
	select {
	case g.free <- struct{}{}:
		defer func() { <-g.free }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	rules, err := c.rules(ctx, g, u)
	if err != nil {
		return nil, err
	}
	if !rules.Test(u.RequestURI()) {
		return nil, &fault{NotAsked, "robots.txt of " + u.Host + " disallows it"}
	}
	a, err := c.send(ctx, g, method, u)
	if err != nil || !a.isBusy() || a.retry == "" {
		return a, err
	}
	if err := sleep(ctx, pause(a.retry)); err != nil {
		return nil, err
	}
	return c.send(ctx, g, method, u)
}

// send sends a request at the rate of the host. It has no credentials and no cookies.
func (c *checker) send(ctx context.Context, g *gate, method string, u *url.URL) (*answer, error) {
	if err := g.limiter.Wait(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no answer within %s", timeout))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, u.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", cmp.Or(c.opts.UserAgent, product))
	req.Header.Set("Accept", "text/html, application/xhtml+xml;q=0.9, */*;q=0.1")
	resp, err := c.client.RoundTrip(req)
	if err != nil {
		return nil, because(ctx, err)
	}
	a, err := read(resp, mostBytes)
	return a, because(ctx, err)
}

// because is the cause of the context's end, where that ended a request.
func because(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// rules are those of the host's robots.txt, which is asked for once. None means that everything is
// allowed, a failure of the server that nothing is (RFC 9309).
func (c *checker) rules(ctx context.Context, g *gate, u *url.URL) (*robotstxt.Group, error) {
	if known := g.robots[u.Scheme]; known != nil {
		return known, nil
	}
	a, err := c.robots(ctx, g, &url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/robots.txt"})
	if err != nil {
		return nil, err
	}
	data, err := robotstxt.FromStatusAndBytes(a.status, a.body)
	if err != nil {
		return nil, &fault{NotAsked, fmt.Sprintf("robots.txt of %s cannot be read: %s", u.Host,
			strings.Join(strings.Fields(err.Error()), " "))}
	}
	if a.status >= http.StatusInternalServerError {
		return nil, &fault{Unreachable, fmt.Sprintf("robots.txt of %s: %d %s", u.Host, a.status, http.StatusText(a.status))}
	}
	group := data.FindGroup(product)
	if delay := min(group.CrawlDelay, longestPause); delay > 0 && rate.Every(delay) < g.limiter.Limit() {
		g.limiter.SetLimit(rate.Every(delay))
	}
	g.robots[u.Scheme] = group
	return group, nil
}

// robots follows the redirects of a robots.txt.
func (c *checker) robots(ctx context.Context, g *gate, u *url.URL) (*answer, error) {
	const mostHops = 5 // RFC 9309
	for range mostHops {
		a, err := c.send(ctx, g, http.MethodGet, u)
		if err != nil || !a.isRedirect() {
			return a, err
		}
		if u, err = parse(u, a.location); err != nil {
			return nil, err
		}
	}
	return &answer{status: http.StatusNotFound}, nil
}

// pause is how long a server asks for patience.
func pause(retry string) time.Duration {
	if seconds, err := strconv.Atoi(retry); err == nil {
		return min(time.Duration(max(seconds, 0))*time.Second, longestPause)
	}
	at, err := http.ParseTime(retry)
	if err != nil {
		return 0
	}
	return min(max(time.Until(at), 0), longestPause)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// parse reads the address of a page, or where a redirect from another one leads. Credentials in it are not sent.
func parse(from *url.URL, address string) (u *url.URL, err error) {
	kind := Redirects
	if from == nil {
		from, kind = &url.URL{}, NotAsked
	}
	if u, err = from.Parse(strings.TrimSpace(address)); err != nil {
		return nil, &fault{kind, "what it leads to is not a URL"}
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, &fault{kind, fmt.Sprintf("only http and https are asked, and not %.60q", u.Redacted())}
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	u.Host = strings.ToLower(u.Host)
	return u, nil
}

// A privateAddress is one that is not asked.
type privateAddress struct{ netip.Addr }

func (a privateAddress) Error() string {
	return fmt.Sprintf("%s is not a public address; --allow-private asks it", a.Addr)
}

// special are networks that are not public, besides those that netip names.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2001::/32"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("fec0::/10"),
}

// translated is the network in which IPv6 hosts see those of IPv4.
var translated = netip.MustParsePrefix("64:ff9b::/96")

// checkPublic refuses an address with a port that is not public.
func checkPublic(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	ip := at.Addr().Unmap().WithZone("")
	if bytes := ip.As16(); translated.Contains(ip) {
		ip = netip.AddrFrom4([4]byte(bytes[12:]))
	}
	isSpecial := slices.ContainsFunc(special, func(network netip.Prefix) bool { return network.Contains(ip) })
	if isSpecial || ip.IsPrivate() || !ip.IsGlobalUnicast() {
		return privateAddress{ip}
	}
	return nil
}

// faultOf is the fault of a page that an error means.
func faultOf(err error) fault {
	if err == nil {
		return fault{}
	}
	if f, ok := errors.AsType[*fault](err); ok {
		return *f
	}
	if p, ok := errors.AsType[privateAddress](err); ok {
		return fault{NotAsked, p.Error()}
	}
	reason := err.Error()
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		reason = "the name " + dns.Name + " does not exist"
	}
	return fault{Unreachable, reason}
}
