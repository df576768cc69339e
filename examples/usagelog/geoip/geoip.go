// Package geoip tells the countries of addresses from a database in the format .mmdb.
package geoip

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"

	"github.com/oschwald/maxminddb-golang/v2"

	"github.com/datacite-go/datacite-go/internal/country"
)

// Countries are those of a database.
type Countries struct{ db *maxminddb.Reader }

// Open opens the database in a file, as Read does.
func Open(name string) (*Countries, error) {
	if _, err := os.Stat(name); err != nil {
		return nil, err // has the name
	}
	db, err := maxminddb.Open(name)
	return checked(name, db, err)
}

// Read takes a database that has been read. One that is damaged, or is of something else,
// is refused: a report without countries looks like any other.
func Read(name string, data []byte) (*Countries, error) {
	db, err := maxminddb.OpenBytes(data)
	return checked(name, db, err)
}

// checked reads all of a database.
func checked(name string, db *maxminddb.Reader, err error) (*Countries, error) {
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	c := &Countries{db}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, errors.Join(err, db.Close()))
	}
	return c, nil
}

func (c *Countries) check() error {
	some := false
	for network := range c.db.Networks() {
		err := network.Err()
		if err == nil {
			var code string
			code, err = of(network)
			some = some || code != ""
		}
		if err != nil {
			return fmt.Errorf("it is damaged: %w", err)
		}
	}
	if !some {
		return errors.New("it has no country of any address; give one with countries, such as GeoLite2-Country.mmdb")
	}
	return nil
}

// Close closes the file.
func (c *Countries) Close() error { return c.db.Close() }

// Of is the country of an address; "" if it is not known, or has no ISO code.
func (c *Countries) Of(address string) (string, error) {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return "", nil // a pseudonym
	}
	return of(c.db.Lookup(ip))
}

// of is the country that a result has.
func of(result maxminddb.Result) (code string, err error) {
	if err := result.DecodePath(&code, "country", "iso_code"); err != nil {
		return "", err
	}
	if code = strings.ToLower(code); country.Pair(code) == 0 {
		return "", nil
	}
	return code, nil
}
