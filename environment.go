package datacite

import (
	"net/url"
	"os"
	"strings"
)

// ParseService returns the deployment that a text names: "production", "test", or the base URL
// of another, such as "http://localhost:8080", which then has all interfaces.
func ParseService(text string) (Service, error) {
	switch strings.ToLower(text) {
	case "production":
		return Production, nil
	case "test":
		return Test, nil
	}
	address := strings.TrimRight(text, "/")
	for _, known := range []Service{Production, Test} {
		if address == known.API || address == known.MDS {
			return known, nil
		}
	}
	if u, err := url.Parse(address); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return Service{}, Invalidf("service", CodeURI,
			"is not test, production or a URL such as https://api.example.org")
	}
	return Service{API: address, MDS: address}, nil
}

// FromEnvironment returns the configuration that the environment variables of the command
// name, so that a program runs unchanged in a sandbox, at the test service and in production:
// DATACITE_SERVICE (required, see [ParseService]), DATACITE_USERNAME and DATACITE_PASSWORD,
// DATACITE_TOKEN, and DATACITE_CONTACT. It reads no file of logins.
func FromEnvironment() (Config, error) {
	name := os.Getenv("DATACITE_SERVICE")
	if name == "" {
		return Config{}, Invalidf("DATACITE_SERVICE", CodeMissing, "is not set; set it to test, production or a URL")
	}
	service, err := ParseService(name)
	if err != nil {
		f := Findings(err)[0]
		f.Path = "DATACITE_SERVICE"
		return Config{}, Invalid(f)
	}
	return Config{
		Service:  service,
		Username: os.Getenv("DATACITE_USERNAME"),
		Password: os.Getenv("DATACITE_PASSWORD"),
		Token:    os.Getenv("DATACITE_TOKEN"),
		Contact:  os.Getenv("DATACITE_CONTACT"),
	}, nil
}
