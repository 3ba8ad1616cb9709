package valkey_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/valkey"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/limitstest"
	valkeyclient "github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

var unpack = cluster.NewScript("unpack", "return cmsgpack.unpack(ARGV[4])")

// The engine reads what a call has reserved as it was written, whatever names subjects have.
func TestTheEngineReadsLines(t *testing.T) {
	engine := valkeyclient.New(valkeyclient.Config{Addresses: []string{enginetest.Redis(t).Addr}})
	defer engine.Close()
	node := cluster.New(cluster.Config{Name: "test", Node: "a", Engine: engine})
	day, all := limits.Budget{Unit: limits.Money, Period: limits.Daily}, limits.Budget{Unit: limits.Tokens, Period: limits.Total}
	lines := []valkey.Line{{"key:a", day, 0}, {"key:a", all, limits.MaxSharedBudget}}
	for _, name := range []string{"\x00\n/", strings.Repeat("x", 22), strings.Repeat("y", 300), strings.Repeat("z", limits.MaxName)} {
		for range 32 {
			lines = append(lines, valkey.Line{name, day, 1})
		}
	}
	hold := valkey.AppendHold(limitstest.Noon, lines)
	reply, err := node.Run(t.Context(), unpack, hold)
	if err != nil {
		t.Fatal(err)
	}
	words, err := reply.AsStrSlice()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"1778673600000000000", "key:a/usd/day", "usd", "1778630400", "1778716800", "0", "key:a/tokens/total", "tokens", "0", "", "9000000000000000"}
	if len(words) != 1+5*len(lines) || !slices.Equal(words[:len(want)], want) {
		t.Errorf("the engine reads %q", words[:len(want)])
	}
	at, read, err := valkey.ParseHold(hold)
	if err != nil || !at.Equal(limitstest.Noon) || !slices.Equal(read, lines) {
		t.Errorf("%v, %v, %d lines", at, err, len(read))
	}
}

func FuzzParseHold(f *testing.F) {
	day := limits.Budget{Unit: limits.Money, Period: limits.Daily}
	f.Add(valkey.AppendHold(limitstest.Noon, []valkey.Line{{"key:a", day, 5}, {strings.Repeat("x", 100), day, 1 << 40}}))
	f.Add(valkey.AppendHold(limitstest.Noon, nil))
	f.Add("\xdc\x00\x06\xa11\xa0\xa0\xa0\xa0\xa0")
	f.Add("\xdc\xff\xff")
	f.Fuzz(func(t *testing.T, hold string) {
		at, lines, err := valkey.ParseHold(hold)
		if err != nil || len(lines) == 0 {
			return
		}
		for _, l := range lines {
			if l.Amount < 0 {
				t.Errorf("a negative amount: %+v", l)
			}
		}
		_ = at
	})
}

func FuzzParseRow(f *testing.F) {
	lines := []valkey.BookLine{{"key:a", "usd/day", "2026-05-13", -5, 1}, {"", "", "", 1 << 62, 0}}
	f.Add(valkey.AppendRow("call", lines))
	f.Add(valkey.AppendReceipt("call", limits.Amount{Nano: 5, Tokens: -1}, 1<<50, lines))
	f.Add([]byte{1, 0xff})
	f.Add([]byte{2, 0})
	f.Fuzz(func(t *testing.T, row []byte) {
		written, err := valkey.RowAgain(row)
		if err != nil {
			return
		}
		crash, lines, err := valkey.ParseRow(row)
		crash2, lines2, err2 := valkey.ParseRow(written)
		again, err3 := valkey.RowAgain(written)
		if errors.Join(err, err2, err3) != nil || crash != crash2 || !slices.Equal(lines, lines2) || !bytes.Equal(written, again) {
			t.Errorf("%q, %v: %q, %v; %x, %x", crash, lines, crash2, lines2, written, again)
		}
	})
}

// A period that has not begun by the engine's clock is not begun for all by a gateway whose clock is wrong.
func TestAPeriodDoesNotBeginEarly(t *testing.T) {
	g := join(t, enginetest.Redis(t).Addr, "a", noon(), valkey.LedgerConfig{})
	key := []limits.Subject{{Name: "key:a", Budgets: []limits.Budget{budget(t, "1usd/day")}}}
	r := limits.ReserveRequest{Call: "1", At: limitstest.Noon, Most: limits.Amount{Nano: 7}, Subjects: key}
	if refusal, err := g.Ledger.Reserve(t.Context(), r); refusal != nil || err != nil {
		t.Fatalf("%+v, %v", refusal, err)
	}
	r.Call, r.At, r.Durable, r.Timeout = "2", limitstest.Noon.Add(12*time.Hour), true, time.Second
	if _, err := g.Ledger.Reserve(t.Context(), r); !errors.Is(err, cluster.ErrClock) || !errors.Is(err, limits.ErrUnavailable) {
		t.Errorf("twelve hours early: %v", err)
	}
	r.Call, r.Durable = "3", false
	r.Likely.Nano = 5
	if _, err := g.Ledger.Reserve(t.Context(), r); err != nil {
		t.Errorf("soft, twelve hours early: %v", err)
	}
	settle(t, g, "3", 5) // it is charged in the period that has begun
	balances, err := g.Status(t.Context(), limitstest.Noon, key)
	if err != nil || balances[0].Reserved != 7 || balances[0].Spent != 5 {
		t.Errorf("%+v, %v", balances, err)
	}
}

// A gateway whose clock is a day ahead charges the periods of the engine's clock.
func TestAWrongClockOfAGatewayDoesNotMatter(t *testing.T) {
	addr := enginetest.Redis(t).Addr
	ahead := func() time.Time { return time.Now().Add(24 * time.Hour) }
	wrong := join(t, addr, "wrong", nil, valkey.LedgerConfig{Now: ahead})
	right := join(t, addr, "right", nil, valkey.LedgerConfig{})
	key := []limits.Subject{{Name: "key:a", Budgets: []limits.Budget{budget(t, "1usd/day")}}}
	r := limits.ReserveRequest{Call: "1", At: ahead(), Most: limits.Amount{Nano: 7}, Subjects: key, Durable: true, Timeout: 5 * time.Second}
	if refusal, err := wrong.Reserve(t.Context(), r); refusal != nil || err != nil {
		t.Fatalf("%+v, %v", refusal, err)
	}
	for g, now := range map[*gateway]time.Time{&wrong: ahead(), &right: time.Now()} {
		balances, err := g.Status(t.Context(), now, key)
		if err != nil || balances[0].Reserved != 7 || balances[0].ResetsAt.After(time.Now().Add(25*time.Hour)) {
			t.Errorf("%+v, %v", balances, err)
		}
	}
}
