package bench

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// A Profile is a kind of report, whose entries are as long, and compress as well, as those that
// repositories really send.
type Profile int

const (
	// Typical entries are about 1,050 bytes of compact JSON, with 3 instances of 3
	// countries each.
	Typical Profile = iota
	// Heavy entries are about 4,000 bytes, with 4 instances of 105 countries each.
	Heavy
)

// String names the profile.
func (p Profile) String() string {
	if p == Heavy {
		return "heavy"
	}
	return "typical"
}

// An Entry is a dataset entry (specification §2.1) as a program would declare it
// that uses encoding/json. Its members have the order of reports.Dataset.
type Entry struct {
	Title        string        `json:"dataset-title"`
	YOP          string        `json:"yop"`
	URI          string        `json:"uri"`
	Platform     string        `json:"platform"`
	DataType     string        `json:"data-type"`
	Publisher    string        `json:"publisher"`
	PublisherID  []TypedValue  `json:"publisher-id"`
	DatasetID    []TypedValue  `json:"dataset-id"`
	DatasetDates []TypedValue  `json:"dataset-dates"`
	Contributors []TypedValue  `json:"dataset-contributors"`
	Performance  []Performance `json:"performance"`
}

// A TypedValue is an identifier, a date or a name.
type TypedValue struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

// A Performance is what was counted in one period.
type Performance struct {
	Period struct {
		BeginDate string `json:"begin-date"`
		EndDate   string `json:"end-date"`
	} `json:"period"`
	Instance []Instance `json:"instance"`
}

// An Instance is one count.
type Instance struct {
	Count         int            `json:"count"`
	MetricType    string         `json:"metric-type"`
	AccessMethod  string         `json:"access-method"`
	CountryCounts map[string]int `json:"country-counts"`
}

// A Source makes entries.
type Source struct {
	Seed    uint64
	Profile Profile
}

// Entry returns entry i.
func (s Source) Entry(i int) Entry {
	g := generator{rand.New(rand.NewPCG(s.Seed, uint64(i))), s.Profile}
	uri, doi := s.Name(i)
	year := 2005 + g.IntN(20)
	published := strconv.Itoa(year) + "-" + twoDigits(1+g.IntN(12)) + "-" + twoDigits(1+g.IntN(28))
	e := Entry{
		URI:          uri,
		YOP:          strconv.Itoa(year),
		Platform:     "Example Data",
		DataType:     "dataset",
		Publisher:    "Example University",
		DatasetID:    []TypedValue{{"doi", doi}},
		PublisherID:  []TypedValue{{"grid", "grid.0000.a"}},
		DatasetDates: []TypedValue{{"pub-date", published}},
		Title:        g.title(),
		Performance:  []Performance{{Instance: g.instances()}},
	}
	e.Performance[0].Period.BeginDate, e.Performance[0].Period.EndDate = "2026-10-01", "2026-10-31"
	for range 1 + min(int(g.ExpFloat64()*2.4), 20) {
		e.Contributors = append(e.Contributors, TypedValue{"name", g.name()})
	}
	return e
}

func twoDigits(n int) string { return strconv.Itoa(100 + n)[1:] }

type generator struct {
	*rand.Rand
	profile Profile
}

// rank draws a number below n, with a probability of 1/(number+1).
func (g generator) rank(n int) int {
	return min(int(math.Exp(g.Float64()*math.Log(float64(n+1)))), n) - 1
}

func (g generator) title() string {
	var b strings.Builder
	start := []string{"Replication Data for: ", "Data from: ", "", "", ""}
	b.WriteString(start[g.IntN(len(start))])
	for i := range 6 + g.IntN(9) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(words[g.rank(len(words))])
	}
	return b.String()
}

func (g generator) name() string {
	family, given := words[g.IntN(len(words))], words[g.IntN(len(words))]
	return capital(family) + ", " + capital(given)
}

func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// instances are totals and unique counts of investigations, and in a third of
// the entries of requests too, by people, and in some by programs.
func (g generator) instances() []Instance {
	var list []Instance
	add := func(what, method string) {
		total, unique := g.counts()
		for _, c := range []struct {
			metric string
			counts map[string]int
		}{{"total-dataset-" + what, total}, {"unique-dataset-" + what, unique}} {
			n := Instance{MetricType: c.metric, AccessMethod: method, CountryCounts: c.counts}
			for _, count := range c.counts {
				n.Count += count
			}
			list = append(list, n)
		}
	}
	add("investigations", "regular")
	if g.profile == Heavy || g.Float64() < 0.37 {
		add("requests", "regular")
		for i := range 2 { // every request is an investigation, too; these are of unknown countries
			list[i].Count += list[i+2].Count
		}
	}
	if g.profile == Typical && g.Float64() < 0.08 {
		add("investigations", "machine")
	}
	return list
}

// counts are counts by country: in total, and of different visitors.
func (g generator) counts() (total, unique map[string]int) {
	countries, mean := 1+min(int(g.ExpFloat64()*2.4), 37), 4.0
	if g.profile == Heavy {
		countries, mean = 85+g.IntN(41), 10
	}
	total, unique = make(map[string]int, countries), make(map[string]int, countries)
	for len(total) < countries {
		code := countryCodes[g.rank(len(countryCodes))]
		if _, ok := total[code]; ok {
			continue
		}
		total[code] = 1 + int(g.ExpFloat64()*mean)
		unique[code] = total[code]
		if g.Float64() < 0.95 { // so that nearly half of them are the same, as in real reports
			unique[code] = 1 + g.IntN(total[code])
		}
	}
	return total, unique
}

// words are 2,000 words that nobody speaks, with the letters of English.
var words = func() []string {
	first := strings.Fields("b bl br c ch cl cr d dr f fl fr g gl gr h j k l m n p ph pl pr qu r s sc sh sl sp st str t " +
		"th tr v w")
	middle := strings.Fields("a a e e e i i o o u ai ea ee io oo ou")
	last := strings.Fields("- - - l m n n r r s t ck ct ll nd ng nt rd st")
	random := rand.New(rand.NewPCG(1, 1))
	pick := func(list []string) string { return strings.TrimPrefix(list[random.IntN(len(list))], "-") }
	seen := map[string]bool{}
	var list []string
	for len(list) < 2000 {
		var b strings.Builder
		for range 1 + min(len(list)/100, 1) + random.IntN(3) {
			b.WriteString(pick(first) + pick(middle))
		}
		b.WriteString(pick(last))
		if w := b.String(); !seen[w] {
			seen[w] = true
			list = append(list, w)
		}
	}
	return list
}()

// countryCodes are 221 of the codes of ISO 3166-1, the frequent ones first.
var countryCodes = strings.Fields(`us cn de gb in fr ca jp br au it nl es kr ru sg id mx se ch tr tw pl be ir hk my
	at th dk fi no pt za vn ph co ar ng ie nz gr eg pk ro cz ua hu il cl sa ke pe bd ae et gh lk ec tz ma hr rs bg sk dz
	si ug iq np lt tn jo kz ee lv cu uy cr bo lb by qa ve om is zw gt lu zm kw cm ge cy sn do sv pa mk hn ni py al ba md
	mm kh bf bw ci mz mw rw na am az uz mn mu tt jm sd ly ye af bh bj cd mg ne ml gm sl tg lr gn ao bi bt bn bs bb bz cv
	td km cg dj dm er fj ga gd gl gp gq gu gw gy ht je im gg gi fo ki kg kp la ls li mo mv mt mh mq mr yt mc me ms nr nc
	nu nf mp ps pg pf pr re lc kn vc ws sm st sc so ss sr sz sy tj tl to tm tc tv vi vg vu wf ad ag ai aq aw ax ky fk cw`)

// Pool returns the first n entries. Measurements cycle through a pool of 2,000,
// 2 MB of text, far more than the 32 KiB that a compressor remembers, and give
// each entry the [Source.Name] of its number.
func (s Source) Pool(n int) []Entry {
	pool := make([]Entry, n)
	for i := range pool {
		pool[i] = s.Entry(i)
	}
	return pool
}

// Name returns the URI and the DOI of entry i, which no other entry of the first
// 2⁴⁰ has.
func (s Source) Name(i int) (uri, doi string) {
	const resolver, letters = "https://repository.example/dataset/", "ABCDEFGHJKMNPQRSTVWXYZ0123456789"
	name := append(make([]byte, 0, 64), resolver+"10.5072/FK2/"...)
	bits := (uint64(i) + s.Seed) * 0x9e3779b97f4a7c15 // odd, so no two numbers meet
	for range 8 {
		name = append(name, letters[bits%32])
		bits /= 32
	}
	uri = string(name)
	return uri, uri[len(resolver):]
}
