// Command platform is a small data repository that embeds the clients as a real one would.
// README.md leads through its packages: begin with dataset, outbox and store.
//
// Without flags it uses the embedded service, in memory, and makes a login:
//
//	cd examples/platform && go run .
//
// With --data it keeps everything in a folder, and --service names the service:
//
//	go run . account add ada --data /var/lib/platform
//	go run . --data /var/lib/platform --service test --prefix 10.1234 --public https://data.example.org --proxy 192.0.2.7
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/examples/platform/accounts"
	"github.com/datacite-go/datacite-go/examples/platform/sqlite"
	"github.com/datacite-go/datacite-go/examples/platform/store"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "platform:", err)
	}
	os.Exit(code(err))
}

// A failure is what happened to a platform that was started as it should be. Other errors
// are of the command line, the settings or the folder.
type failure struct{ error }

// code is the exit code for an error, as the command datacite has them.
func code(err error) int {
	if _, failed := errors.AsType[failure](err); failed {
		return 1
	}
	if err != nil {
		return 2
	}
	return 0
}

// A commandLine is what the flags and the environment say.
type commandLine struct {
	Config
	service, address, format string
	port                     int
	out, notes               io.Writer
}

// run does what a command line says. What it made goes to out, what happens to notes.
func run(ctx context.Context, words []string, out, notes io.Writer) error {
	s := &commandLine{out: out, notes: notes}
	s.Username, s.Password, s.Token = os.Getenv("DATACITE_USERNAME"), os.Getenv("DATACITE_PASSWORD"), os.Getenv("DATACITE_TOKEN")
	cmd := &cobra.Command{
		Use: "platform", Args: cobra.NoArgs, SilenceErrors: true, SilenceUsage: true,
		Short: "A small data repository that registers its datasets with DataCite",
		Long: `A small data repository that registers its datasets with DataCite.

Without flags it is a demonstration: a registration service in memory, a folder that is removed at
the end, and a login. With --service it needs a folder for what it keeps, the prefix of the account,
the address under which the world reaches it, and the login of the account in DATACITE_USERNAME and
DATACITE_PASSWORD. Usage reports need a token in DATACITE_TOKEN.

Ctrl-C and SIGTERM end it when the requests it has are answered. It may be killed at any time. The
exit code is 0 if it was told to end, 1 if it failed, 2 if it could not start: the command line, the
settings or the folder are wrong.`,
		Example: `  platform
  platform account add ada --data /var/lib/platform
  platform --data /var/lib/platform --service test --prefix 10.1234 --public https://data.example.org`,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.start(cmd.Context()) },
	}
	cmd.CompletionOptions.DisableDefaultCmd = true
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; %s -h lists the flags", err, cmd.CommandPath())
	})
	cmd.PersistentFlags().StringVar(&s.Folder, "data", "", "`folder` of databases and files")
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&s.service, "service", os.Getenv("DATACITE_SERVICE"),
		"`where` DOIs are registered: test, production or a URL; without it, and without DATACITE_SERVICE, in memory")
	flags.StringVar(&s.Prefix, "prefix", "", "`prefix` of the account")
	flags.StringVar(&s.By.Name, "name", "Example Repository", "`name` of the repository, in records and reports")
	flags.StringVar(&s.By.Public, "public", "",
		"`URL` under which the world sees the pages. Requests for other hosts are refused, so a proxy has to pass the Host "+
			"header on")
	flags.StringVar(&s.address, "listen", "localhost", "`address` to listen on")
	flags.IntVar(&s.port, "port", 8090, "`port` to listen on; 0 takes a free one")
	flags.Func("proxy", "address or `network` of a proxy in front of the pages, such as 192.0.2.0/24; may be repeated",
		s.addProxy)
	flags.Int64Var(&s.Limits.Bytes, "max-file", 1_000_000_000, "largest file that can be uploaded, in `bytes`")
	flags.StringVar(&s.format, "log", "text", "`form` of the log on standard error: text or json")
	cmd.AddCommand(s.account(), s.backup())
	cmd.SetArgs(append([]string{}, words...)) // nil would be the words of the process
	cmd.SetOut(out)
	cmd.SetErr(out)
	return cmd.ExecuteContext(ctx)
}

func (s *commandLine) addProxy(text string) error {
	network, err := netip.ParsePrefix(text)
	if address, err2 := netip.ParseAddr(text); err2 == nil {
		network, err = netip.PrefixFrom(address, address.BitLen()), nil
	}
	s.Proxies = append(s.Proxies, network)
	return err
}

// start opens the platform and serves it until the context is done.
func (s *commandLine) start(ctx context.Context) (err error) {
	demonstration := s.Folder == ""
	switch s.format {
	case "text":
		s.Log = slog.New(slog.NewTextHandler(s.notes, nil))
	case "json":
		s.Log = slog.New(slog.NewJSONHandler(s.notes, nil))
	default:
		return fmt.Errorf("--log is %q; it is text or json", s.format)
	}
	if s.service != "" {
		err = s.findService()
	}
	if err != nil {
		return err
	}
	if demonstration {
		folder, err := os.MkdirTemp("", "platform")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		s.Folder = folder
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(s.address, strconv.Itoa(s.port)))
	if err != nil {
		return err
	}
	defer listener.Close()
	here := "http://" + listener.Addr().String()
	s.By.Public = cmp.Or(strings.TrimSuffix(s.By.Public, "/"), here)
	if s.service == "" {
		service := datacitetest.NewServer(nil)
		defer service.Close()
		s.API, s.Store, s.Token = service.URL, service.URL, service.Token(service.Now().Add(365*24*time.Hour))
		s.Username, s.Password = datacitetest.Username, datacitetest.Password
		s.Prefix = cmp.Or(s.Prefix, datacitetest.Prefix)
		fmt.Fprintln(s.out, "The registration service runs in memory: no real DOI is registered.")
	}
	p, err := Open(s.Config)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "The repository is at %s (Ctrl-C stops it)\n", here)
	if demonstration {
		if err := addAccount(ctx, p.accounts, "ada", true, s.out); err != nil {
			return errors.Join(err, p.Close())
		}
	}
	if err := p.serve(ctx, listener); err != nil {
		return failure{err}
	}
	return nil
}

// findService reads --service. DOIs that are registered there outlive the process, so their
// datasets and their addresses have to as well.
func (s *commandLine) findService() error {
	known := map[string]datacite.Service{"test": datacite.Test, "production": datacite.Production}
	service, ok := known[strings.ToLower(s.service)]
	s.API, s.Store = service.API, service.MDS
	if !ok {
		u, err := url.Parse(s.service)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return fmt.Errorf("--service: %q is not test, production or a URL that begins with https://", s.service)
		}
		s.API = strings.TrimRight(s.service, "/")
		s.Store = s.API
	}
	var missing []string
	for _, need := range []struct{ what, value string }{
		{"--data", s.Folder}, {"--prefix", s.Prefix}, {"--public", s.By.Public}, {"DATACITE_USERNAME", s.Username},
		{"DATACITE_PASSWORD", s.Password},
	} {
		if need.value == "" {
			missing = append(missing, need.what)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("the service %s needs %s", s.service, strings.Join(missing, ", "))
	}
	s.By.Public = strings.TrimSuffix(s.By.Public, "/")
	if u, err := url.Parse(s.By.Public); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" ||
		u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("--public: %q is not the address of a host, such as https://data.example.org", s.By.Public)
	}
	return nil
}

// backup is platform backup.
func (s *commandLine) backup() *cobra.Command {
	return &cobra.Command{
		Use: "backup FOLDER", Short: "Copy the repository to a folder while it runs",
		Long: `Copy the repository to a folder while it runs: databases, files, and the notes of usage reports, all as
they are at one moment. If the folder has an earlier copy, only new files are copied, and an
interrupted copy leaves the earlier one whole. To restore it, start the platform with a copy of the folder as --data.

A backup has all that the repository has: drafts, names of curators, and hashes of their passwords.`,
		Args: func(_ *cobra.Command, folders []string) error {
			if len(folders) != 1 {
				return errors.New("backup needs one folder to copy to, as in: platform backup /var/backups/platform --data " +
					"/var/lib/platform")
			}
			return nil
		},
		PreRunE: s.needFolder,
		RunE: func(cmd *cobra.Command, folders []string) error {
			to := folders[0]
			if err := os.MkdirAll(to, 0o700); err != nil {
				return err
			}
			source, err1 := os.Stat(s.Folder)
			target, err2 := os.Stat(to)
			if err := errors.Join(err1, err2); err != nil {
				return err
			}
			if os.SameFile(source, target) {
				return fmt.Errorf("%s is the folder of the repository itself", to)
			}
			made, err := store.Copy(cmd.Context(), s.Folder, to)
			if err == nil {
				err = sqlite.Copy(cmd.Context(), accountsFile(s.Folder), accountsFile(to))
			}
			if err == nil {
				_, err = fmt.Fprintf(s.out, "%s has the databases and %d files, %d of them new\n", to, made.Files, made.Copied)
			}
			return err
		},
	}
}

// needFolder is for commands that do something to a folder.
func (s *commandLine) needFolder(*cobra.Command, []string) error {
	if s.Folder == "" {
		return errors.New("--data is missing: the folder of the repository")
	}
	return nil
}

// account is platform account: who may log in.
func (s *commandLine) account() *cobra.Command {
	account := &cobra.Command{
		Use: "account", Short: "Make and remove logins", PersistentPreRunE: s.needFolder,
	}
	on := func(use, short string, words int,
		work func(context.Context, *accounts.Accounts, []string) error) *cobra.Command {
		cmd := &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(words)}
		cmd.RunE = func(cmd *cobra.Command, words []string) error {
			if err := os.MkdirAll(s.Folder, 0o700); err != nil {
				return err
			}
			a, err := accounts.Open(accountsFile(s.Folder), 0)
			if err != nil {
				return err
			}
			return errors.Join(work(cmd.Context(), a, words), a.Close())
		}
		account.AddCommand(cmd)
		return cmd
	}
	var administrator bool
	add := on("add NAME", "Make a login, or give it a new password, and print the password", 1,
		func(ctx context.Context, a *accounts.Accounts, words []string) error {
			return addAccount(ctx, a, words[0], administrator, s.out)
		})
	add.Flags().BoolVar(&administrator, "administrator", false, "the login sees the page Administration")
	on("role NAME administrator|curator", "Make a login an administrator, who sees the page Administration, or no longer",
		2, func(ctx context.Context, a *accounts.Accounts, words []string) error {
			if words[1] != "administrator" && words[1] != "curator" {
				return fmt.Errorf("the role %q is not administrator or curator", words[1])
			}
			return a.SetAdministrator(ctx, words[0], words[1] == "administrator")
		})
	on("list", "List the logins", 0, func(ctx context.Context, a *accounts.Accounts, _ []string) error {
		curators, err := a.Curators(ctx)
		for _, c := range curators {
			fmt.Fprintln(s.out, c.Name+map[bool]string{true: "\tadministrator"}[c.Administrator])
		}
		return err
	})
	var heir string
	remove := on("remove NAME", "Remove a login", 1,
		func(ctx context.Context, a *accounts.Accounts, words []string) error {
			return removeAccount(ctx, s.Folder, a, words[0], heir, s.out)
		})
	remove.Flags().StringVar(&heir, "heir", "",
		"`name` of the login that gets the datasets; without it they wait for a later login of the same name")
	return account
}

// addAccount makes a login with a password that nobody had before.
func addAccount(ctx context.Context, a *accounts.Accounts, name string, administrator bool, out io.Writer) error {
	password := rand.Text()
	err := a.Add(ctx, name, password)
	if err == nil && administrator {
		err = a.SetAdministrator(ctx, name, true)
	}
	if err == nil {
		_, err = fmt.Fprintf(out, "The login %s has the password %s (change it on the page Password)\n", name, password)
	}
	return err
}

// removeAccount ends a login, after its datasets have gone to the heir, if there is one.
func removeAccount(ctx context.Context, folder string, a *accounts.Accounts, name, heir string, out io.Writer) error {
	if name == heir {
		return fmt.Errorf("%q cannot be the heir of %[1]q", name)
	}
	if err := errors.Join(a.Exists(ctx, name), a.Exists(ctx, cmp.Or(heir, name))); err != nil {
		return err
	}
	text := "; datasets that it has wait for a later login of the same name"
	if heir != "" {
		s, err := store.Open(folder)
		if err != nil {
			return err
		}
		given, err := s.Give(ctx, name, heir)
		if err := errors.Join(err, s.Close()); err != nil {
			return err
		}
		text = fmt.Sprintf("; %d datasets of %s belong to %s now", given, name, heir)
	}
	err := a.Remove(ctx, name)
	if err == nil {
		_, err = fmt.Fprintf(out, "The login %s is removed%s\n", name, text)
	}
	return err
}
