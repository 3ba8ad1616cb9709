package modelcall

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// misbehaviours are what the targets of a random call do, and some good answers.
var misbehaviours = []string{
	"echo", "no-done", "no-usage", "delayed-headers-5000", "paced-20-3000", "first-1-err-500", "first-2-reset",
	"err-500", "err-503", "err-429", "after-none-err-429", "after-1-err-429", "err-529", "spend-cap", "err-401", "err-404", "err-400",
	"too-long", "azure-filter", "hang", "late", "stall", "silent-5", "cut-5", "cut-40-reset", "cut-3-clean", "no-answer", "reset",
	"overloaded", "malformed", "empty", "not-json-200", "html-502", "error-200", "err-first-event", "err-mid-stream",
	"response-failed", "redirect-307", "wrong-type-200",
}

// Whatever the targets of a call do, its client and the gateway: what the call has reserved is settled
// once, at the price of the target that answered, and nothing else is held.
func TestAReservationIsSettledOnceWhateverTheAttempts(t *testing.T) {
	fleets := 40
	if testing.Short() {
		fleets = 10
	}
	for seed := range fleets {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(seed), 1))
				var behaviours []string
				for range 1 + r.IntN(len(targetNames)) {
					behaviours = append(behaviours, misbehaviours[r.IntN(len(misbehaviours))])
				}
				f := newFleet(t, families[r.IntN(len(families))], behaviours, limitedEverywhere(t, r))
				spent := int64(0)
				for range 1 + r.IntN(5) {
					time.Sleep(time.Duration(r.IntN(60)) * time.Second)
					if f.randomCall(t, r, &spent); t.Failed() {
						t.Fatalf("behaviours %q", behaviours)
					}
				}
				time.Sleep(time.Hour) // cool-downs are over
				f.wantNothingHeld(t)
			})
		})
	}
}

const tokenLimit = 1 << 30

// limitedEverywhere gives the key, the alias and most targets limits of all kinds.
func limitedEverywhere(t *testing.T, r *rand.Rand) func(*rig) {
	subject := func(name string, most int64) limits.Subject {
		return limits.Subject{Name: name, Concurrency: limits.Concurrency{Limit: 1}, Rates: []limits.Rate{
			{Unit: limits.Requests, Limit: most, Window: time.Minute}, {Unit: limits.Tokens, Limit: tokenLimit, Window: 24 * time.Hour},
		}}
	}
	return func(rig *rig) {
		k := budget(t, "1000usd/day")
		of := subject("key:dev", 1000)
		of.Budgets = k.Subjects[0].Budgets
		k.Subjects[0] = of
		limited(k)(rig)
		rig.Limits.Drain = time.Duration(r.IntN(3)) * 10 * time.Second
		rig.Limits.Models = []policy.ModelLimits{{Pattern: "fast", Subject: subject("model:fast", 1000)}}
		for _, name := range targetNames {
			if r.IntN(3) > 0 {
				most := int64(1 + r.IntN(3))
				rig.Limits.Models = append(rig.Limits.Models, policy.ModelLimits{Pattern: name + "/*", Subject: subject("model:"+name, most), Caps: policy.Caps{Output: 50 + 50*most, Clamp: true}})
			}
		}
	}
}

// randomCall makes a call, which its client, a shutdown or a bug may end, and checks what is left.
// Spent is what the calls before it cost; it is raised.
func (f *fleet) randomCall(t *testing.T, r *rand.Rand, spent *int64) {
	t.Helper()
	f.asked, f.panicAt = nil, 0
	client, leave := context.WithCancel(t.Context())
	defer leave()
	after := time.Duration(r.Int64N(int64(100 * time.Second)))
	switch r.IntN(8) {
	case 0, 1:
		time.AfterFunc(after, leave)
	case 2:
		time.AfterFunc(after, func() { f.calls.Interrupt(request.ErrShutdown) })
	case 3:
		f.panicAt = 1 + r.IntN(3)
	}
	stream := r.IntN(2) == 0
	body := strings.TrimSuffix(f.family.body, "}") + fmt.Sprintf(`,"stream":%t,"metadata":{"user_id":%q}}`, stream, strings.Repeat("x", r.IntN(2)*r.IntN(100_000)))
	before := f.tokensLeft()
	var got string
	func() {
		defer func() { _ = recover() }()
		w, _ := f.send(t, body, func(r *http.Request) { *r = *r.WithContext(client) })
		got = w.Body.String()
	}()
	synctest.Wait()
	f.wantSettled(t, got, stream, before, spent)
}

// wantSettled checks what a call has left behind. Before is what was left of the token rates.
func (f *fleet) wantSettled(t *testing.T, body string, stream bool, before map[string]int64, spent *int64) {
	t.Helper()
	row := f.rows(t)[0]
	tokens := row.PromptTokens + row.CompletionTokens
	price := int64(1000 * (slices.Index(targetNames, row.Provider) + 1))
	if *spent += row.CostNano; row.CostNano != price*tokens || f.balance(t).Spent != *spent {
		t.Errorf("%d tokens of %s cost %d, the budget has %d spent, want %d", tokens, row.Provider, row.CostNano, f.balance(t).Spent, *spent)
	}
	for subject, left := range f.tokensLeft() {
		used := before[subject] - left
		want := int64(0)
		if name := strings.TrimPrefix(subject, "model:"); name == row.Provider || name == "fast" || subject == "key:dev" {
			want = tokens
		}
		if len(f.asked) == 0 {
			want = 0
		}
		if used != want {
			t.Errorf("%d tokens count against the rate of %s, want %d", used, subject, want)
		}
		if n, _ := f.Concurrency.InUse(subject); n != 0 {
			t.Errorf("%d slots of %s are taken", n, subject)
		}
	}
	var attempted, asked []string
	for _, a := range row.Attempted {
		name, _, _ := strings.Cut(a.Target, "/")
		attempted = append(attempted, name)
	}
	for _, a := range f.asked {
		asked = append(asked, a.target)
	}
	if row.Code == string(apierror.Internal) && len(asked) > 0 {
		asked = asked[:len(asked)-1] // that panicked
	}
	if !slices.Equal(attempted, asked) || len(asked) > 6 {
		t.Errorf("attempts %q in the record, %q were made", attempted, asked)
	}
	if stream && row.Code != string(apierror.ClientGone) && (row.Code == "") != strings.Contains(body, f.family.good) {
		t.Errorf("the record has %q, the client got\n%s", row.Code, body)
	}
	if b := f.balance(t); b.Reserved != 0 || f.memory.Used() != 0 || f.calls.Len() != 0 {
		t.Errorf("%d nano-USD, %d bytes and %d calls are held", b.Reserved, f.memory.Used(), f.calls.Len())
	}
}

// tokensLeft is what is left of each token rate.
func (f *fleet) tokensLeft() map[string]int64 {
	left := make(map[string]int64)
	subjects := []limits.Subject{f.Limits.Keys["dev"].Subjects[0]}
	for _, m := range f.Limits.Models {
		subjects = append(subjects, m.Subject)
	}
	for _, s := range subjects {
		reading, _, _, _ := f.Rates.Tokens(context.Background(), 0, []limits.Subject{s})
		left[s.Name] = reading.Remaining
	}
	return left
}
