package main

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/oschwald/maxminddb-golang/v2"
)

// countries returns the function that looks up addresses in a database in the format .mmdb. One
// that is damaged, or is of something else, is refused: a table without countries looks like any
// other.
func countries(name string, data []byte) (func(address string) (string, error), error) {
	db, err := maxminddb.OpenBytes(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	code := func(of maxminddb.Result) (code string, err error) {
		err = errors.Join(of.Err(), of.DecodePath(&code, "country", "iso_code"))
		return code, err
	}
	some := false
	for network := range db.Networks() { // all of it is read
		found, err := code(network)
		if err != nil {
			return nil, fmt.Errorf("%s: it is damaged: %w", name, err)
		}
		some = some || found != ""
	}
	if !some {
		return nil, fmt.Errorf("%s: it contains no country data; give one with countries, such as GeoLite2-Country.mmdb", name)
	}
	return func(address string) (string, error) {
		ip, err := netip.ParseAddr(address)
		if err != nil {
			return "", nil // a pseudonym
		}
		return code(db.Lookup(ip))
	}, nil
}
