package main

import (
	"bufio"
	"context"
	"debug/buildinfo"
	"debug/elf"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell/shelltest"
)

var release = flag.String("release", "", "`folder` with a release, which .ci/release made on this machine")

// released is a file of the release whose name has a part, and the version of the release.
func released(t *testing.T, part string) (file, version string) {
	t.Helper()
	if *release == "" {
		t.Skip("-release names no release")
	}
	files, err := filepath.Glob(filepath.Join(*release, "datacite_*"+part+"*"))
	require.NoError(t, err)
	if len(files) == 0 { // .ci/release names what it cannot build
		t.Skipf("the release has no %s", part)
	}
	file, err = filepath.Abs(files[0])
	require.NoError(t, err)
	_, version, _ = strings.Cut(filepath.Base(file), "_")
	version, _, _ = strings.Cut(version, "_")
	return file, "v" + strings.ReplaceAll(version, "~", "-")
}

// do runs a program to its end.
func do(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var notes strings.Builder
	cmd.Stderr = &notes
	out, err := cmd.Output()
	require.NoError(t, err, "%v\n%s%s", cmd.Args, out, notes.String())
	return string(out)
}

// inside is a program in a folder that is its whole file system, run by somebody who owns nothing.
func inside(ctx context.Context, root string, user uint32, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Path, cmd.Err, cmd.Dir, cmd.Env = args[0], nil, "/", []string{"PATH=/usr/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: user, Gid: user}}
	return cmd
}

func TestReleaseFilesMatchTheirChecksums(t *testing.T) {
	released(t, "")
	sums := exec.CommandContext(t.Context(), "sha256sum", "--check", "--strict", "SHA256SUMS")
	sums.Dir = *release
	do(t, sums)
	lines := shelltest.Read(t, filepath.Join(*release, "SHA256SUMS"))
	entries, err := os.ReadDir(*release)
	require.NoError(t, err)
	assert.Len(t, strings.Split(strings.TrimSpace(string(lines)), "\n"), len(entries)-1)
}

// Each archive has the program of its system, which is the module that go install finds, with the
// licences of all that is linked into it, the manual and completions.
func TestReleaseArchives(t *testing.T) {
	released(t, "_")
	archives, err := filepath.Glob(filepath.Join(*release, "datacite_*_*_*.tar.gz"))
	require.NoError(t, err)
	zips, err := filepath.Glob(filepath.Join(*release, "datacite_*.zip"))
	require.NoError(t, err)
	for _, archive := range append(archives, zips...) {
		if strings.Contains(archive, "_image_") {
			continue
		}
		t.Run(filepath.Base(archive), func(t *testing.T) {
			_, version := released(t, "")
			folder := t.TempDir()
			name, zipped := strings.CutSuffix(filepath.Base(archive), ".zip")
			if zipped {
				do(t, exec.CommandContext(t.Context(), "python3", "-m", "zipfile", "-e", archive, folder))
			} else {
				name = strings.TrimSuffix(name, ".tar.gz")
				do(t, exec.CommandContext(t.Context(), "tar", "-xzf", archive, "-C", folder))
			}
			folder = filepath.Join(folder, name) // all is in one folder
			program := filepath.Join(folder, "datacite")
			if strings.Contains(name, "_windows_") {
				program += ".exe"
			}
			info, err := buildinfo.ReadFile(program)
			require.NoError(t, err)
			assert.Equal(t, version, info.Main.Version)
			assert.Equal(t, "github.com/datacite-go/datacite-go/cmd/datacite", info.Main.Path)
			assert.NotEmpty(t, info.Main.Sum, "built from the module")
			size, err := os.Stat(program)
			require.NoError(t, err)
			assert.Less(t, size.Size(), int64(30_000_000))
			modules := shelltest.Read(t, filepath.Join(folder, "licenses", "MODULES"))
			for _, dep := range append(info.Deps, &info.Main) {
				assert.Nil(t, dep.Replace, dep.Path)
				assert.Contains(t, string(modules), dep.Path+" "+dep.Version+"\n")
				files, err := filepath.Glob(filepath.Join(folder, "licenses", filepath.FromSlash(dep.Path),
					"[Ll][Ii][Cc][Ee][Nn]*"))
				require.NoError(t, err)
				assert.NotEmpty(t, files, dep.Path)
			}
			for _, file := range []string{
				"LICENSE", "README.md", "CHANGELOG.md", "licenses/go/LICENSE", "man/man1/datacite.1",
				"man/man1/datacite-usage-send.1", "man/man7/datacite-tables.7",
				"completions/datacite.bash", "completions/_datacite", "completions/datacite.fish", "completions/datacite.ps1",
				"licenses/github.com/datacite-go/datacite-go/reports/counter/robots.LICENSE",
			} {
				assert.FileExists(t, filepath.Join(folder, filepath.FromSlash(file)))
			}
		})
	}
}

func TestReleaseSaysItsVersion(t *testing.T) {
	archive, version := released(t, "_linux_"+runtime.GOARCH)
	folder := t.TempDir()
	do(t, exec.CommandContext(t.Context(), "tar", "-xzf", archive, "-C", folder, "--strip-components=1"))
	program := filepath.Join(folder, "datacite")
	file, err := elf.Open(program)
	require.NoError(t, err)
	defer file.Close()
	assert.False(t, slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool {
		return p.Type == elf.PT_INTERP
	}), "it is static")
	commit := strings.TrimSpace(do(t, exec.CommandContext(t.Context(), "git", "rev-parse", "HEAD")))
	var said struct{ Version, Commit, Date, Go, Schema, Robots string }
	require.NoError(t, json.Unmarshal([]byte(do(t, exec.CommandContext(t.Context(), program, "version", "--json"))),
		&said))
	assert.Equal(t, version, said.Version)
	assert.Equal(t, commit[:12], said.Commit)
	for _, text := range []string{said.Date, said.Go, said.Schema, said.Robots} {
		assert.NotEmpty(t, text)
	}
	do(t, exec.CommandContext(t.Context(), "bash", "-n", filepath.Join(folder, "completions/datacite.bash")))
}

// The Debian package installs into an empty system, runs there, and leaves nothing behind.
func TestReleaseIsADebianPackage(t *testing.T) {
	pkg, version := released(t, "_"+runtime.GOARCH+".deb")
	if os.Getuid() != 0 {
		t.Skip("only root installs packages")
	}
	root := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(root), 0o755))
	for _, folder := range []string{"updates", "info"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, "var/lib/dpkg", folder), 0o755))
	}
	require.NoError(t, os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o600))
	do(t, exec.CommandContext(t.Context(), "dpkg", "--root="+root, "-i", pkg))
	assert.Contains(t, do(t, inside(t.Context(), root, 0, "/usr/bin/datacite", "version")), "datacite "+version)
	for _, file := range []string{
		"man/man1/datacite.1.gz", "man/man7/datacite-json.7.gz", "bash-completion/completions/datacite",
		"zsh/vendor-completions/_datacite",
		"fish/vendor_completions.d/datacite.fish", "doc/datacite/copyright",
	} {
		assert.FileExists(t, filepath.Join(root, "usr/share", file))
	}
	do(t, exec.CommandContext(t.Context(), "dpkg", "--root="+root, "-P", "datacite"))
	assert.NoDirExists(t, filepath.Join(root, "usr"))
}

// The image starts the sandbox, as nobody in particular, and trusts the authorities in its file of
// certificates.
func TestReleaseIsAnImage(t *testing.T) {
	archive, version := released(t, "_image_"+runtime.GOARCH)
	if os.Getuid() != 0 {
		t.Skip("only root changes the root folder")
	}
	folder, root := t.TempDir(), t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(root), 0o755))
	do(t, exec.CommandContext(t.Context(), "tar", "-xzf", archive, "-C", folder))
	var manifest []struct {
		Config           string
		RepoTags, Layers []string
	}
	read := func(file string, to any) {
		data := shelltest.Read(t, filepath.Join(folder, file))
		require.NoError(t, json.Unmarshal(data, to))
	}
	read("manifest.json", &manifest)
	require.Len(t, manifest, 1)
	var config struct {
		OS, Architecture string
		Config           struct {
			User            string
			Entrypoint, Cmd []string
			ExposedPorts    map[string]any
			Labels          map[string]string
		}
	}
	read(manifest[0].Config, &config)
	for _, layer := range manifest[0].Layers {
		do(t, exec.CommandContext(t.Context(), "tar", "-xpf", filepath.Join(folder, layer), "-C", root))
	}
	c := config.Config
	assert.Equal(t, []string{"linux", runtime.GOARCH, "65532:65532"}, []string{config.OS, config.Architecture, c.User})
	assert.Contains(t, c.ExposedPorts, "8080/tcp")
	assert.Equal(t, version, "v"+c.Labels["org.opencontainers.image.version"])
	assert.True(t, slices.ContainsFunc(manifest[0].RepoTags, func(tag string) bool {
		return strings.HasSuffix(tag, "/datacite:"+version[1:])
	}), manifest[0].RepoTags)
	tmp, err := os.Stat(filepath.Join(root, "tmp"))
	require.NoError(t, err)
	assert.Equal(t, os.ModeDir|os.ModeSticky|0o777, tmp.Mode())

	// as engines do
	require.NoError(t, os.WriteFile(filepath.Join(root, "etc/hosts"), []byte("127.0.0.1 localhost\n"), 0o600))
	require.NoError(t, os.Chmod(filepath.Join(root, "etc/hosts"), 0o644))
	const nobody = 65532
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	serving := inside(ctx, root, nobody, slices.Concat(c.Entrypoint, c.Cmd, []string{"--port", "0", "--json"})...)
	out, err := serving.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, serving.Start())
	line, err := bufio.NewReader(out).ReadBytes('\n')
	require.NoError(t, err)
	var sandbox struct{ Service string }
	require.NoError(t, json.Unmarshal(line, &sandbox), string(line))
	assert.Empty(t, do(t, inside(ctx, root, nobody, c.Entrypoint[0], "search", "--service", sandbox.Service, "--json")))
	require.NoError(t, serving.Process.Signal(syscall.SIGTERM))
	_ = serving.Wait() // interrupted

	counted := inside(ctx, root, nobody, c.Entrypoint[0], "usage", "count", "-", "--month", "2026-10", "--creator",
		"Example", "--zone", "Europe/Berlin", "--log-format",
		"combined", "--investigations", `^/data/(10\..+)$`, "--requests", `^/get/(10\..+)$`, "--output", "-")
	counted.Stdin = strings.NewReader(
		`192.0.2.7 - - [15/Oct/2026:10:00:00 +0200] "GET /data/10.5072/a HTTP/1.1" 200 100 "-" "Mozilla/5.0 (X11; Linux ` +
			`x86_64)"` + "\n")
	assert.Contains(t, do(t, counted), "10.5072/a", "time zones are built in")

	// Behind the names of the service are services whose authority is added to those of the image.
	env := hosts(t)
	var authority []byte
	for _, setting := range env {
		if file, ok := strings.CutPrefix(setting, "SSL_CERT_FILE="); ok {
			authority = shelltest.Read(t, file)
		}
	}
	bundle := filepath.Join(root, "etc/ssl/certs/ca-certificates.crt")
	known := shelltest.Read(t, bundle)
	assert.Greater(t, strings.Count(string(known), "BEGIN CERTIFICATE"), 100)
	search := func() (string, error) {
		cmd := inside(ctx, root, nobody, c.Entrypoint[0], "search", "--service", "test", "--json")
		cmd.Env = append(cmd.Env, env[0])
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	said, err := search()
	require.Error(t, err)
	assert.Contains(t, said, "certificate")
	require.NoError(t, os.WriteFile(bundle, append(known, authority...), 0o600))
	require.NoError(t, os.Chmod(bundle, 0o644))
	said, err = search()
	assert.NoError(t, err, said)
}
