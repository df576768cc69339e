// Package account is where commands work, and as whom: the service that --service,
// DATACITE_SERVICE or the settings name, and its login.
package account

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/time/rate"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
)

// A Use is what a command does with a service.
type Use int

// The uses.
const (
	Reads  Use = iota // from production if no service is said; a login is optional
	Writes            // the service must be said, and a login is required, except in a dry run
	LogsIn            // the service must be said; a stored login does not count
)

// Flags are the flags of a command about the service and the login.
type Flags struct {
	shell          *shell.Shell
	use            Use
	service, login string
	rate           float64
	debug          bool
}

// NewFlags adds the flags --service, --login, --rate and --debug to a command.
func NewFlags(s *shell.Shell, cmd *cobra.Command, use Use) *Flags {
	f := &Flags{shell: s, use: use}
	otherwise := ", or production"
	if use != Reads {
		otherwise = ""
	}
	cmd.Flags().StringVar(&f.service, "service", "",
		"`where`: test, production or a URL (without it: DATACITE_SERVICE, the settings"+otherwise+")")
	_ = cmd.RegisterFlagCompletionFunc("service", cobra.FixedCompletions([]string{"test", "production"},
		cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	cmd.Flags().StringVar(&f.login, "login", "",
		"`file` with the login, or - for standard input (\"datacite help logins\")")
	cmd.Flags().Float64Var(&f.rate, "rate", 0, "most requests per second, a `number` such as 2.5")
	cmd.Flags().BoolVar(&f.debug, "debug", false, "print requests and responses on standard error, without the login")
	return f
}

// A Service is a deployment, with the configuration of its clients.
type Service struct {
	Name   string // test, production, or the host
	Host   string // of the DOI API
	Config datacite.Config
}

// String names the service for people: "test (api.test.datacite.org)".
func (s *Service) String() string {
	if s.Name == s.Host {
		return s.Host
	}
	return s.Name + " (" + s.Host + ")"
}

// argument is the value of --service that means the service.
func (s *Service) argument() string {
	if s.Name == s.Host {
		return s.Config.Service.API
	}
	return s.Name
}

// Resolver is the base URL at which DOIs of the service resolve, "" if that is not known.
func (s *Service) Resolver() string {
	switch s.Name {
	case "test":
		return "https://handle.test.datacite.org"
	case "production":
		return "https://doi.org"
	}
	return ""
}

// names are the words for the deployments of DataCite.
var names = map[string]datacite.Service{"test": datacite.Test, "production": datacite.Production}

// Parse reads the name or the base URL of a service.
func Parse(text string) (*Service, error) {
	service, err := datacite.ParseService(text)
	if err != nil {
		return nil, fmt.Errorf("%q is not test, production or a URL that begins with https://%s", text,
			shell.DidYouMean(text, []string{"test", "production"}))
	}
	for name, known := range names {
		if service == known {
			return named(name, service), nil
		}
	}
	return named("", service), nil
}

func named(name string, service datacite.Service) *Service {
	u, _ := url.Parse(service.API) // it was read before
	return &Service{Name: cmp.Or(name, u.Host), Host: u.Host, Config: datacite.Config{Service: service}}
}

// Open returns the service that is meant, with its login. It says on standard error if the
// service is the default.
func (f *Flags) Open() (*Service, error) {
	if err := checkEnvironment(f.shell); err != nil {
		return nil, shell.Wrong(err)
	}
	settings, err := Load(f.shell)
	if err != nil {
		return nil, shell.Wrong(err)
	}
	service, err := f.find(settings)
	if err != nil {
		return nil, shell.Wrong(err)
	}
	if f.rate != 0 {
		if !(f.rate > 0) {
			return nil, shell.Wrong(fmt.Errorf("--rate is %v; it must be more than 0", f.rate))
		}
		service.Config.Limiter = rate.NewLimiter(rate.Limit(f.rate), 1)
	}
	service.Config.Contact = cmp.Or(f.shell.Getenv("DATACITE_CONTACT"), settings["contact"])
	login, err := f.findLogin(service)
	if err != nil {
		return nil, shell.Wrong(err)
	}
	if f.use == Writes && !f.shell.DryRun && login == (Login{}) {
		return nil, shell.Wrong(fmt.Errorf(
			"there is no login for %s; store one with datacite login --service %s, or see datacite help "+
				"logins", service, service.argument()))
	}
	service.Config.Username, service.Config.Password, service.Config.Token = login.Username, login.Password, login.Token
	if f.debug {
		service.Config.HTTPClient = &http.Client{
			Transport: &tracer{next: http.DefaultTransport, shell: f.shell, service: service}}
	}
	return service, nil
}

// Said reports whether a service is said, by the flag, the environment or the settings.
func (f *Flags) Said() bool {
	settings, err := Load(f.shell)
	return err != nil || f.service != "" || f.shell.Getenv("DATACITE_SERVICE") != "" || settings["service"] != ""
}

// ForReports returns the configuration of a client that writes usage reports, which takes a token
// alone. It warns if the token expires soon.
func (f *Flags) ForReports(s *Service) (datacite.Config, error) {
	cfg := s.Config
	cfg.Username, cfg.Password = "", ""
	if cfg.Token == "" {
		return cfg, shell.Wrong(fmt.Errorf(
			"usage reports need a token, and the login for %s has none; put it into DATACITE_TOKEN, or into a file for "+
				"--login", s))
	}
	at, err := expiry(cfg.Token)
	const month = 30 * 24 * time.Hour
	if err == nil && time.Until(at) < month {
		f.shell.Warn("warning: the token expires at %s; ask the operator of the service for a new one", shell.Moment(at))
	}
	return cfg, err
}

// WarnOfToken returns what a submission calls with its warnings: that of a wait which may outlive the
// token is told at once, before the wait, and warn takes the others.
func WarnOfToken(sh *shell.Shell, warn func(datacite.Finding)) func(datacite.Finding) {
	return func(f datacite.Finding) {
		if f.Path != "Config.Token" {
			warn(f)
			return
		}
		sh.Warn("warning: the token %s", f.Reason)
	}
}

// find reads which service is meant, and copies the shell's configuration to it.
func (f *Flags) find(settings Settings) (*Service, error) {
	name, origin := f.service, "--service"
	if name == "" {
		name, origin = f.shell.Getenv("DATACITE_SERVICE"), "DATACITE_SERVICE"
	}
	if name == "" {
		name, origin = settings["service"], "the setting service"
	}
	if name == "" && f.use != Reads && !f.shell.DryRun {
		return nil, errors.New("say which service is meant: add --service test or --service production, or choose one for " +
			"all commands with datacite config service test")
	}
	service, err := Parse(cmp.Or(name, "production"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", origin, err)
	}
	if name == "" {
		f.shell.Say("reading from %s", service) // a dry run reads at most
	}
	addresses := service.Config.Service
	service.Config = f.shell.Config
	service.Config.Service = addresses
	return service, nil
}
