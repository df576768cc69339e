package access

import (
	"iter"
	"net/netip"
	"strings"
)

// Address reads an address with or without a port.
func Address(text string) (netip.Addr, bool) {
	ip, err := netip.ParseAddr(text)
	if err == nil {
		return ip.Unmap(), true
	}
	if both, err := netip.ParseAddrPort(text); err == nil {
		return both.Addr().Unmap(), true
	}
	ip, err = netip.ParseAddr(strings.Trim(text, "[]"))
	return ip.Unmap(), err == nil
}

// Visitor walks back from the connection, through X-Forwarded-For, to the first address that is
// not of a proxy: what that one wrote about others may be invented. It ends before a text that is
// no address, and returns "" if it has found none.
func Visitor(back iter.Seq2[int, string], proxy func(netip.Addr) bool) (visitor string) {
	for _, text := range back {
		ip, ok := Address(strings.TrimSpace(text))
		if !ok {
			break
		}
		if visitor = ip.String(); !proxy(ip) {
			break
		}
	}
	return visitor
}

// Has reports whether an address is in one of the networks.
func Has(networks []netip.Prefix, ip netip.Addr) bool {
	for _, network := range networks {
		if network.Contains(ip) {
			return true
		}
	}
	return false
}
