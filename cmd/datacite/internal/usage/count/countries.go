package count

import (
	"errors"
	"fmt"
	"net/netip"
	"os"

	"github.com/oschwald/maxminddb-golang/v2"
)

// countries tell the country of an address, from a database in the format .mmdb.
type countries struct{ db *maxminddb.Reader }

// openCountries opens a database. One that is damaged, or is of something else, is refused: a
// report without countries looks like any other.
func openCountries(name string) (*countries, error) {
	if _, err := os.Stat(name); err != nil {
		return nil, err // has the name
	}
	db, err := maxminddb.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	c, some := &countries{db}, false
	for network := range db.Networks() { // all of it is read
		code, err := codeOf(network)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: it is damaged: %w", name, err), db.Close())
		}
		some = some || code != ""
	}
	if !some {
		return nil, errors.Join(fmt.Errorf(
			"%s: it contains no country data; give one with countries, such as GeoLite2-Country.mmdb", name), db.Close())
	}
	return c, nil
}

// of is the country of an address; "" if it is not known.
func (c *countries) of(address string) (string, error) {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return "", nil // a pseudonym
	}
	return codeOf(c.db.Lookup(ip))
}

func codeOf(result maxminddb.Result) (code string, err error) {
	if err := result.Err(); err != nil {
		return "", err
	}
	err = result.DecodePath(&code, "country", "iso_code")
	return code, err
}
