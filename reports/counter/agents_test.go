package counter_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/reports/counter"
)

func TestRobotsDate(t *testing.T) {
	list, err := os.ReadFile("robots.txt")
	require.NoError(t, err)
	assert.Contains(t, string(list), "Date: "+counter.RobotsDate+".")
}

func TestRobotsAreNotPeopleNorTools(t *testing.T) {
	for agent, want := range map[string]string{
		"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)":    "robot",
		"mozilla/5.0 (compatible; GOOGLEBOT/2.1)":                                     "robot",
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0)": "robot",
		"Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)":            "robot",
		"facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)":   "robot",
		"Scrapy/2.11 (+https://scrapy.org)":                                           "robot",
		"Mozilla/5.0":                                                                 "robot", // browsers have more to say
		"curl/8.5.0":                                                                  "machine",
		"python-requests/2.32.3":                                                      "machine",
		"R (4.4.1 x86_64-pc-linux-gnu x86_64 linux-gnu)":                              "machine",
		"Java/17.0.11": "machine",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120 Safari/53": "",
		"Mozilla/5.0 (X11; Linux x86_64; rv:121.0) Gecko/20100101 Firefox/121.0":                                "",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_2 like Mac OS X) AppleWebKit/605.1.15 Version/17.2 Safari/604.1": "",
		"Opera/9.80 (Windows NT 6.1; U; en) Presto/2.10.289 Version/12.01":                                      "",
	} {
		got := ""
		if counter.Robots().Match(agent) {
			got = "robot"
		} else if counter.Machines().Match(agent) {
			got = "machine"
		}
		assert.Equal(t, want, got, agent)
	}
}

// TestGeneralPurposeAgentsAreMachines: "this blacklist MUST NOT include general
// purpose user agents".
func TestGeneralPurposeAgentsAreMachines(t *testing.T) {
	for _, agent := range counter.GeneralPurpose() {
		assert.False(t, counter.Robots().Match(agent), agent)
		assert.True(t, agent == "" || counter.Machines().Match(agent), agent)
	}
	assert.Equal(t, counter.Robots().Patterns(), counter.Robots().Without(counter.GeneralPurpose()...).Patterns())
}

// TestTheListIsThatOfCOUNTER: as it was published, but without the tools of researchers.
func TestTheListIsThatOfCOUNTER(t *testing.T) {
	file, err := os.Open("robots.txt")
	require.NoError(t, err)
	defer file.Close()
	published, err := counter.ReadAgents(file)
	require.NoError(t, err)
	assert.Len(t, published.Patterns(), 327)
	var without []string
	for _, p := range published.Patterns() {
		if !slices.Contains(counter.Robots().Patterns(), p) {
			without = append(without, p)
		}
	}
	assert.Equal(t, []string{
		"^.?$", "^ruby$", `aria2\/\d`, `axios\/\d`, `curl\/`, `HttpComponents\/1.1`, "http.?client", "httpx", "insomnia",
		`^java\/\d{1,2}.\d`,
		`Jersey\/\d`, "libcurl", "libwww", "lwp", "okhttp", `PHP\/`, "PycURL", "python", `ReactorNetty\/\d`, "RestSharp", "Typhoeus", "urllib", "Wget",
	}, without)
}

func TestAPublishedListIsRead(t *testing.T) {
	json := `[{"pattern": "bot", "last_changed": "2017-08-08"}, {"pattern": "^.?$"}, {"pattern": "curl\\/"}, ` +
		`{"pattern": "[^a]fish"}]`
	text := "# robots\nbot\r\n\n^.?$\ncurl\\/\n[^a]fish"
	for _, list := range []string{json, text} {
		agents, err := counter.ReadAgents(strings.NewReader(list))
		require.NoError(t, err)
		assert.True(t, agents.Match("curl/8.5.0"))
		assert.True(t, agents.Match(""))
		robots := agents.Without(counter.GeneralPurpose()...)
		assert.Equal(t, []string{"bot", "[^a]fish"}, robots.Patterns())
		assert.True(t, robots.Match("A Fish"))
		assert.False(t, robots.Match("Afish"))
	}
}

func TestAListWithFaults(t *testing.T) {
	for list, want := range map[string]string{
		"bot\n(\n":                      "line 2: error parsing regexp: missing closing ): `(?i)(`",
		`[{"pattern":"bot"},{"url":1}]`: "[1].pattern: is missing",
		`{"pattern":"bot"}`:             "user agents: are not an array of objects with a pattern",
		"bot\xff":                       "user agents: are not valid UTF-8",
	} {
		_, err := counter.ReadAgents(strings.NewReader(list))
		require.ErrorIs(t, err, datacite.ErrInvalid, list)
		assert.ErrorContains(t, err, "datacite: "+want, list)
	}
	lost := errors.New("disk is dead")
	_, err := counter.ReadAgents(iotest.ErrReader(lost))
	assert.Equal(t, lost, err)
	_, err = counter.NewAgents("bot", "+")
	assert.EqualError(t, err, "datacite: pattern 2: error parsing regexp: missing argument to repetition operator: `+`")
}

// TestAListFindsWhatEachPatternFinds compares lists with their patterns, tried one by one.
func TestAListFindsWhatEachPatternFinds(t *testing.T) {
	pieces := []string{"a", "b", "A", "ab", "ba", "bab", "B", "é", "É", `\d`, "1", ".", "a?", "(ab|ba)", "(b+)", "[ab]",
		"^", "$", "(ab){2}", "b*", "k", "\u212a", "(?-i:B)"}
	for seed := range uint64(800) {
		r := rand.New(rand.NewPCG(seed, 1))
		patterns := make([]string, r.IntN(6))
		var each []*regexp.Regexp
		for i := range patterns {
			for range 1 + r.IntN(4) {
				patterns[i] += pieces[r.IntN(len(pieces))]
			}
			if _, err := regexp.Compile(patterns[i]); err != nil { // such as "a?b**"
				patterns[i] = "ab"
			}
			each = append(each, regexp.MustCompile("(?i)"+patterns[i]))
		}
		agents, err := counter.NewAgents(patterns...)
		require.NoError(t, err)
		for range 20 {
			var text strings.Builder
			for range r.IntN(6) {
				text.WriteString([]string{"a", "b", "A", "B", "1", "é", "É", " ", "k", "\u212a", "\u2000"}[r.IntN(11)])
			}
			want := slices.ContainsFunc(each, func(p *regexp.Regexp) bool { return p.MatchString(text.String()) })
			require.Equal(t, want, agents.Match(text.String()), "seed %d: %q in %q", seed, patterns, text.String())
		}
	}
}

// FuzzReadAgents: a list that is read finds what its patterns find, tried one by one.
func FuzzReadAgents(f *testing.F) {
	f.Add("# robots\nbot\r\n\n^.?$\ncurl\\/\n[^a]fish", "A Fish")
	f.Add(`[{"pattern": "b(o|u)t+"}, {"pattern": "\u00e9"}, {"pattern": "K"}]`, "\u212aÉ")
	f.Add("a{2}b\n(?-i:X)\n\\Qa.b\\E", "xaab")
	f.Add("(?-i:X)", "x")
	f.Fuzz(func(t *testing.T, list, agent string) {
		agents, err := counter.ReadAgents(strings.NewReader(list))
		if err != nil {
			require.ErrorIs(t, err, datacite.ErrInvalid)
			return
		}
		want := slices.ContainsFunc(agents.Patterns(), func(p string) bool {
			return regexp.MustCompile("(?i)" + p).MatchString(agent)
		})
		require.Equal(t, want, agents.Match(agent))
	})
}
