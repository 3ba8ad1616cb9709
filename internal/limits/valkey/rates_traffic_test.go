package valkey_test

import (
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

// scripts is how many messages the engine has got.
func scripts(t *testing.T, g *peer) int {
	t.Helper()
	reply, err := g.engine.Do(t.Context(), "INFO", "commandstats")
	if err != nil {
		t.Fatal(err)
	}
	text, err := reply.ToString()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, found := range regexp.MustCompile(`cmdstat_eval(?:sha)?:calls=(\d+)`).FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(found[1])
		sum += n
	}
	return sum
}

// quiet waits until nobody sends messages any more, and returns how many the engine has got.
func quiet(t *testing.T, g *peer) (messages int) {
	t.Helper()
	messages = -1
	enginetest.Within(t, patience, "nobody sends messages any more", func() bool {
		before := messages
		messages = scripts(t, g)
		return messages == before
	})
	return messages
}

// still is a node that does not beat, so that nothing is healed.
func still(name string) cluster.Config {
	return cluster.Config{Node: name, Beat: time.Hour, Lease: 2 * time.Hour}
}

func TestMessagesOfACall(t *testing.T) {
	g := startedAt(t, enginetest.Redis(t).Addr, still("a"))
	all := slots("key:a", 100, 0)
	all.Rates = rated(t, "", "1000/min", "5000/h", "9000 tokens/h").Rates
	enter(t, g, all) // the engine knows the script
	quiet(t, g)
	for _, c := range []struct {
		name    string
		subject limits.Subject
		most    int
	}{
		{"no limit", limits.Subject{Name: "key:b"}, 0},
		{"budgets", limits.Subject{Name: "key:b", Budgets: []limits.Budget{{Unit: limits.Money, Limit: 1}}}, 0},
		{"rates of tokens", rated(t, "key:b", "10 tokens/min"), 0}, // are counted later
		{"rates and slots", all, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := scripts(t, g)
			entry := enter(t, g, c.subject, limits.Subject{Name: "tenant:a"})
			if after := scripts(t, g); after-before > c.most || entry.Over != nil || entry.Busy != nil {
				t.Errorf("%d messages for %+v", after-before, entry)
			}
		})
	}
	t.Run("tokens without a rate", func(t *testing.T) {
		before := scripts(t, g)
		_, grant, refusal, err := g.Tokens(t.Context(), 10, []limits.Subject{rated(t, "key:b", "5/min")})
		grant.Adjust(5)
		if after := scripts(t, g); err != nil || refusal != nil || after != before {
			t.Errorf("%d messages, %+v, %v", after-before, refusal, err)
		}
	})
	t.Run("a rate that is used up", func(t *testing.T) {
		s := rated(t, "key:over", "2/h")
		for range 3 {
			enter(t, g, s)
		}
		before := scripts(t, g)
		for range 10 {
			if entry := enter(t, g, s); entry.Over == nil || entry.Over.RetryAfter < 59*time.Minute || entry.Over.Rate != s.Rates[0] {
				t.Errorf("%+v", entry.Over)
			}
		}
		if after := scripts(t, g); after != before {
			t.Errorf("%d messages", after-before)
		}
	})
}
