package delivery

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/runlock"
)

// minute is a time of a story.
func minute(n int) time.Time { return epoch.Add(time.Duration(n) * time.Minute) }

// A chapter is what happens at a minute, and what the run does next.
type chapter struct {
	at    int
	event func(d Run, now time.Time) Run
	next  string
}

func looked(s View) func(Run, time.Time) Run {
	return func(d Run, now time.Time) Run { return d.Looked(s, now, now) }
}

func lookedSince(began int, s View) func(Run, time.Time) Run {
	return func(d Run, now time.Time) Run { return d.Looked(s, minute(began), now) }
}

func sending(subset int) func(Run, time.Time) Run {
	return func(d Run, _ time.Time) Run { return d.Sending(subset) }
}

func responded(s View) func(Run, time.Time) Run {
	return func(d Run, now time.Time) Run { return d.Responded(s, now) }
}

func lost(d Run, now time.Time) Run { return d.ResponseLost(now) }

func replanned(subsets int) func(Run, time.Time) Run {
	return func(d Run, _ time.Time) Run { return d.Replanned(subsets) }
}

// Views: the first n subsets, whose hash is even, or their datasets; something else; failures.
func first(n int) View     { return View{Kind: Shown, First: n, Hash: uint64(2 * n)} }
func datasets(n int) View  { return View{Kind: Shown, First: n, Hash: uint64(2*n + 1)} }
func other(h uint64) View  { return View{Kind: Shown, Foreign: true, Hash: h} }
func unreachable() View    { return View{Kind: Unreachable} }
func unreadable() View     { return View{Kind: Unreadable} }
func failsFrom(n int) View { return View{Kind: Unreachable, Since: minute(n)} }

// again is a subset that is sent each 10 minutes and does not arrive, so that the report stays as it was.
func again(times, subset int, was View, next string) (all []chapter) {
	for i := range times {
		all = append(all,
			chapter{10 * i, sending(subset), fmt.Sprint("look at ", 10*i)},
			chapter{10*i + 9, looked(was), next})
	}
	return all
}

// said is a step in words.
func said(s Step) string {
	in := func(t time.Time) string { return fmt.Sprint(t.Sub(epoch).Minutes()) }
	switch s.Do {
	case Look:
		if s.Why == "" {
			return "look at " + in(s.At)
		}
		return fmt.Sprintf("look at %s, end %s: %s", in(s.At), in(s.End()), s.Why)
	case Send:
		return fmt.Sprint("send ", s.Subset)
	case Finish:
		return "finish"
	}
	return fmt.Sprint("stop ", s.State)
}

// noted is what the run tells the next one.
func noted(d Run) string {
	r, ok := d.Record()
	switch {
	case !ok:
		return ""
	case r.At.Equal(runlock.Idle):
		return fmt.Sprint("idle, ", r.State)
	}
	return fmt.Sprint(r.At.Sub(epoch).Minutes(), ", ", r.State)
}

// TestStories tells what a run of three subsets does. A request may be in progress for 5 minutes; looks may
// fail for 30.
func TestStories(t *testing.T) {
	const (
		earlier  = ": the last request of an earlier run may still be in progress"
		response = ": the response to the last request was lost, and the service may still be working on it"
		another  = ": another program may be writing to the report"
		down     = ": the service cannot be reached, or fails"
		torn     = ": the service cannot read the report, which is normal while it is written"
	)
	type story struct {
		left     runlock.Record // by an earlier run
		others   int            // when another account sent a request; 0: never
		outage   int            // if not 30
		chapters []chapter
		note     string // at the end
	}
	begun := []chapter{{0, looked(first(0)), "send 0"}, {0, sending(0), "look at 0"}, {0, responded(first(1)), "send 1"}}
	from := func(before []chapter, more ...chapter) []chapter { return slices.Concat(before, more) }
	for name, story := range map[string]story{
		"a new report": {chapters: from(begun,
			chapter{2, sending(1), "look at 2"},
			chapter{2, responded(View{}), "look at 2"},
			chapter{3, looked(first(2)), "send 2"},
			chapter{4, sending(2), "look at 4"},
			chapter{4, responded(first(3)), "finish"},
		), note: "idle, 6"},
		"it is there":             {chapters: []chapter{{0, looked(first(3)), "finish"}}, note: "0, 6"},
		"another report is there": {chapters: []chapter{{0, looked(other(8)), "send 0"}}, note: "0, 8"},

		// Responses that are lost.
		"a PUT whose response is lost": {chapters: []chapter{
			{0, looked(first(0)), "send 0"},
			{1, sending(0), "look at 1"},
			{2, lost, "look at 7, end 7" + response},
		}, note: "2, 0"},
		"it arrived": {chapters: []chapter{
			{0, looked(first(0)), "send 0"},
			{1, sending(0), "look at 1"},
			{2, lost, "look at 7, end 7" + response},
			{3, looked(first(1)), "look at 7, end 7" + response},
			{7, looked(first(1)), "send 1"},
		}, note: "idle, 2"},
		"another program wrote instead": {chapters: []chapter{
			{0, looked(first(0)), "send 0"},
			{1, sending(0), "look at 1"},
			{2, lost, "look at 7, end 7" + response},
			{7, looked(first(2)), "stop disturbed"},
		}, note: "idle, 4"},
		"another program wrote, and the PUT was not sent": {chapters: []chapter{
			{0, looked(first(0)), "send 0"},
			{1, sending(0), "look at 1"},
			{1, looked(first(1)), "stop disturbed"},
		}, note: "idle, 2"},
		"a POST whose response is lost": {chapters: from(begun,
			chapter{2, sending(1), "look at 2"},
			chapter{2, lost, "look at 3, end 7" + response},
			chapter{3, looked(first(1)), "look at 5, end 7" + response},
			chapter{5, looked(first(1)), "look at 7, end 7" + response},
			chapter{7, looked(first(1)), "send 1"},
		), note: "idle, 2"},
		"it arrives early": {chapters: from(begun,
			chapter{2, sending(1), "look at 2"},
			chapter{2, lost, "look at 3, end 7" + response},
			chapter{3, looked(first(2)), "send 2"},
		), note: "idle, 4"},
		"it is written": {chapters: from(begun,
			chapter{2, sending(1), "look at 2"},
			chapter{2, lost, "look at 3, end 7" + response},
			chapter{3, looked(unreadable()), "look at 5, end 33" + torn},
			chapter{5, looked(unreachable()), "look at 9, end 33" + down},
			chapter{9, looked(first(2)), "send 2"},
		), note: "idle, 4"},
		"a look that began too early": {chapters: from(begun,
			chapter{2, sending(1), "look at 2"},
			chapter{2, lost, "look at 3, end 7" + response},
			chapter{8, lookedSince(6, first(1)), "look at 8"},
			chapter{9, looked(first(1)), "send 1"},
		), note: "idle, 2"},
		"something else is there": {chapters: from(begun,
			chapter{2, sending(1), "look at 2"},
			chapter{2, lost, "look at 3, end 7" + response},
			chapter{7, looked(other(9)), "stop disturbed"},
		), note: "idle, 9"},
		"it is never known": {chapters: from(begun,
			chapter{2, sending(1), "look at 2"},
			chapter{2, lost, "look at 3, end 7" + response},
			chapter{3, looked(unreachable()), "look at 5, end 33" + down},
			chapter{33, looked(unreachable()), "stop unclear"},
		), note: "2, 0"},

		// Subsets that do not arrive.
		"four times": {chapters: again(4, 0, first(0), "send 0"), note: "idle, 0"},
		"five times": {chapters: from(again(4, 0, first(0), "send 0"),
			chapter{40, sending(0), "look at 40"},
			chapter{49, looked(first(0)), "stop unclear"},
		), note: "idle, 0"},
		"over a report": {chapters: again(4, 0, other(8), "send 0"), note: "idle, 8"},
		"a POST, five times": {chapters: from(slices.Concat(begun, again(4, 1, first(1), "send 1")),
			chapter{40, sending(1), "look at 40"},
			chapter{49, looked(first(1)), "stop incomplete"},
		), note: "idle, 2"},
		"a POST after a PUT, four times each": {chapters: slices.Concat(again(4, 0, first(0), "send 0"), begun[1:],
			again(4, 1, first(1), "send 1")), note: "idle, 2"},

		// Looks that fail.
		"the service is away": {chapters: []chapter{
			{0, looked(unreachable()), "look at 2, end 30" + down},
			{2, looked(unreachable()), "look at 6, end 30" + down},
			{28, looked(unreachable()), "look at 30, end 30" + down},
			{30, looked(unreachable()), "stop untouched"},
		}},
		"for a while": {chapters: []chapter{
			{4, lookedSince(0, failsFrom(3)), "look at 6, end 33" + down},
			{6, looked(first(0)), "send 0"},
		}},
		"after one PUT without a connection": {outage: 3, chapters: []chapter{
			{0, looked(first(0)), "send 0"},
			{0, sending(0), "look at 0"},
			{1, looked(unreachable()), "look at 3, end 4" + down},
			{4, looked(unreachable()), "stop untouched"},
		}, note: "idle, 0"},
		"after a second one": {outage: 3, chapters: from(again(1, 0, first(0), "send 0"),
			chapter{10, sending(0), "look at 10"},
			chapter{11, looked(unreachable()), "look at 13, end 14" + down},
			chapter{14, looked(unreachable()), "stop unclear"},
		), note: "idle, 0"},
		"the report is broken": {chapters: []chapter{
			{0, looked(unreadable()), "look at 2, end 30" + torn},
			{30, looked(unreadable()), "stop broken"},
		}},
		"for as long as a request takes": {outage: 5, chapters: []chapter{
			{0, looked(unreadable()), "look at 2, end 5" + torn},
			{5, looked(unreadable()), "stop broken"},
		}},
		"or is written": {outage: 4, chapters: []chapter{
			{0, looked(unreadable()), "look at 2, end 4" + torn},
			{4, looked(unreadable()), "stop untouched"},
		}},
		"or is written by another account": {outage: 5, others: 2, chapters: []chapter{
			{0, looked(unreadable()), "look at 2, end 7" + torn},
			{5, looked(unreadable()), "stop untouched"},
		}},
		"or unreachable": {outage: 5, chapters: []chapter{
			{0, looked(unreachable()), "look at 2, end 5" + down},
			{5, looked(unreachable()), "stop untouched"},
		}},

		// Other programs.
		"a part is there": {chapters: []chapter{
			{0, looked(first(1)), "look at 5, end 5" + another},
			{5, looked(first(1)), "send 1"},
		}, note: "0, 2"},
		"it grows": {chapters: []chapter{
			{0, looked(first(1)), "look at 5, end 5" + another},
			{5, looked(first(2)), "stop disturbed"},
		}, note: "0, 2"},
		"it is completed": {chapters: []chapter{
			{0, looked(first(1)), "look at 5, end 5" + another},
			{5, looked(first(3)), "finish"},
		}, note: "0, 2"},
		"it was unreadable": {left: runlock.Record{At: minute(-2), State: 6}, chapters: []chapter{
			{0, looked(unreadable()), "look at 2, end 30" + torn},
			{2, looked(first(3)), "look at 7, end 7" + another},
			{7, looked(first(3)), "finish"},
		}, note: "2, 6"},
		"another account wrote": {others: -2, chapters: []chapter{
			{0, looked(unreadable()), "look at 2, end 30" + torn},
			{2, looked(first(0)), "look at 3, end 3" + earlier},
			{3, looked(first(0)), "send 0"},
		}},

		// Earlier runs of this account.
		"an earlier run sent something": {left: runlock.Record{At: minute(-3)}, chapters: []chapter{
			{0, looked(first(1)), "look at 2, end 2" + earlier},
		}},
		"it arrived, too": {left: runlock.Record{At: minute(-3)}, chapters: []chapter{
			{0, looked(first(1)), "look at 2, end 2" + earlier},
			{2, looked(first(1)), "send 1"},
		}, note: "idle, 2"},
		"and another account, later": {left: runlock.Record{At: minute(-3)}, others: -2, chapters: []chapter{
			{0, looked(first(1)), "look at 3, end 3" + earlier},
		}},
		"or before": {left: runlock.Record{At: minute(-3)}, others: -4, chapters: []chapter{
			{0, looked(first(1)), "look at 2, end 2" + earlier},
		}},
		"an earlier run left it": {left: runlock.Record{At: runlock.Idle, State: 2}, chapters: []chapter{
			{0, looked(first(1)), "send 1"},
		}},
		"now it shows datasets": {left: runlock.Record{At: runlock.Idle, State: 2}, chapters: []chapter{
			{0, looked(datasets(1)), "send 1"},
		}, note: "idle, 3"},
		"an earlier run left something else": {left: runlock.Record{At: runlock.Idle, State: 6}, chapters: []chapter{
			{0, looked(first(1)), "look at 5, end 5" + another},
		}, note: "0, 2"},
		"an earlier run began to wait": {left: runlock.Record{At: minute(-2), State: 2}, chapters: []chapter{
			{0, looked(first(1)), "look at 3, end 3" + another},
			{3, looked(first(1)), "send 1"},
		}, note: "-2, 2"},
		"for something else": {left: runlock.Record{At: minute(-2), State: 4}, chapters: []chapter{
			{0, looked(first(1)), "look at 5, end 5" + another},
		}, note: "0, 2"},
		"what is stored has no hash": {chapters: []chapter{
			{0, looked(View{Kind: Shown, First: 1}), "look at 5, end 5" + another},
		}, note: "0, 0"},

		// Zeros that come to the plan.
		"after the data": {chapters: []chapter{
			{0, looked(first(3)), "finish"},
			{0, replanned(4), "look at 0"},
			{0, looked(first(3)), "look at 5, end 5" + another},
		}, note: "0, 6"},
		"before the data": {chapters: []chapter{
			{0, looked(unreadable()), "look at 2, end 30" + torn},
			{2, looked(other(8)), "look at 7, end 7" + another},
			{7, looked(other(8)), "send 0"},
			{7, replanned(4), "look at 7"},
			{7, looked(other(8)), "send 0"},
		}, note: "7, 8"},
		"and what is there becomes a part of the plan": {chapters: []chapter{
			{0, looked(unreadable()), "look at 2, end 30" + torn},
			{2, looked(other(8)), "look at 7, end 7" + another},
			{7, replanned(4), "look at 7"},
			{7, looked(first(4)), "finish"},
		}, note: "7, 8"},
	} {
		t.Run(name, func(t *testing.T) {
			settings := Settings{Subsets: 3, MaxProcessing: 5 * time.Minute, MaxOutage: 30 * time.Minute,
				FirstPause: time.Minute, LongestPause: 4 * time.Minute}
			if story.outage != 0 {
				settings.MaxOutage = time.Duration(story.outage) * time.Minute
			}
			var others time.Time
			if story.others != 0 {
				others = minute(story.others)
			}
			d := New(settings, story.left, others)
			require.Equal(t, "look at 0", said(d.Next(epoch)))
			for i, c := range story.chapters {
				d = c.event(d, minute(c.at))
				require.Equal(t, c.next, said(d.Next(minute(c.at))), "chapter %d", i)
			}
			require.Equal(t, story.note, noted(d))
		})
	}
}
