// Package runtimekeys has the gateway keys that are made while the gateway runs: by a manager
// through /api/v1/keys, or by the operator.
//
//	made := runtimekeys.New(time.Now, rand.Reader)
//	err := made.Open(ctx, runtimekeys.NewTable(st))          // reads all keys
//	found, err := made.Authenticate(secret, block, now)      // keys.ErrInvalid: 401
//	key, secret, err := made.Create(ctx, block, maker, edit) // returns when the key survives a kill -9
//
// All keys are in memory, found by the SHA-256 of a secret; a [Table] keeps them. A [Key] never
// changes: each change makes a new version of it. So a request under way has one version, and a
// request after a change has the new one.
//
// A configuration bounds the keys by its [Block]. It applies to the keys that exist, too: what a key
// may do is what both its own settings and the block allow.
package runtimekeys

import (
	"crypto/sha256"
	"encoding/hex"
	"sync/atomic"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/policy"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// Sum is the SHA-256 of a secret.
type Sum = [sha256.Size]byte

// Key is one version of a key.
type Key struct {
	Record
	grant atomic.Pointer[Grant] // for the block that was asked for last
}

// Record is what is kept of a key.
type Record struct {
	ID       Sum    // of its first secret; its identity, also after the secret was replaced
	Seq      int64  // later keys have higher numbers
	Version  int64  // of a shared table: the number of its last change
	Tenant   string // the owner
	Label    string // the first and last characters of the newest secret
	Secrets  []Secret
	Created  time.Time
	Updated  time.Time // zero: never
	MadeWith string    // the hash of the Idempotency-Key that it was made with; "" without
	Settings
}

// Secret is one secret of a key.
type Secret struct {
	Sum   Sum
	Until time.Time // the end of its grace, after it was replaced; zero: it is the newest
}

// Settings are what a manager says of a key. The JSON is that of the table.
type Settings struct {
	Name        string    `json:"name"`
	Limit       *int64    `json:"limit,omitempty"` // nano-USD; nil: none
	Reset       string    `json:"reset,omitempty"` // "daily", "weekly", "monthly"; "": never
	Disabled    bool      `json:"disabled,omitempty"`
	Expires     time.Time `json:"expires,omitzero"` // zero: never
	IncludeBYOK bool      `json:"byok,omitempty"`
	Creator     string    `json:"creator,omitempty"`
	External    string    `json:"external,omitempty"`
	Owner       *Owner    `json:"owner,omitempty"` // nil: no person has made or rotated it
	*Extensions
}

// Owner is the last person who has made or rotated a key by the rights of a role, and has its
// secret.
type Owner struct {
	ID   string `json:"id"`
	Name string `json:"name"` // for display
}

// Extensions are the settings that OpenRouter's keys do not have. Few keys have any.
type Extensions struct {
	Scopes      []string          `json:"scopes,omitempty"` // empty: those of the block
	Models      []string          `json:"models,omitempty"` // empty: those of the block
	Tools       []string          `json:"mcp,omitempty"`    // empty: none
	Rates       []string          `json:"rates,omitempty"`
	Concurrency string            `json:"concurrency,omitempty"`
	Budgets     []string          `json:"budgets,omitempty"`
	MaxOutput   int64             `json:"max_output_tokens,omitempty"` // 0: no limit of its own
	Metadata    map[string]string `json:"metadata,omitempty"`
}

// extensions returns the extensions, which are empty if there are none.
func (s *Settings) extensions() Extensions {
	if s.Extensions == nil {
		return Extensions{}
	}
	return *s.Extensions
}

// Hash is the identity as text: 64 hex digits.
func (r *Record) Hash() string { return hex.EncodeToString(r.ID[:]) }

// EndsSince returns when the holders of the secrets of an earlier version lose their access: by the
// rotations since then, or as the key expires. Zero: never.
func (r *Record) EndsSince(before *Key) (end time.Time) {
	end = r.Expires
	for _, old := range before.Secrets {
		ends := r.Updated // it was replaced without grace
		for _, now := range r.Secrets {
			if now.Sum == old.Sum {
				ends = now.Until
			}
		}
		if old.Until.IsZero() && !ends.IsZero() && (end.IsZero() || ends.Before(end)) {
			end = ends
		}
	}
	return end
}

// subjectPrefix and the hash are the name of a key in the ledger.
var subjectPrefix = policy.KeySubject("")

// Subject is the key's name in the ledger.
func (r *Record) Subject() string { return subjectPrefix + r.Hash() }

// IsSubject reports whether a name in the ledger is that of a key made at run time. The key may have
// been deleted.
func IsSubject(name string) bool {
	if len(name) != len(subjectPrefix)+hex.EncodedLen(sha256.Size) || name[:len(subjectPrefix)] != subjectPrefix {
		return false
	}
	_, err := hex.DecodeString(name[len(subjectPrefix):])
	return err == nil
}

// Period is that of the key's limit.
func (s *Settings) Period() limits.Period {
	for i, name := range resets {
		if name == s.Reset {
			return periods[i]
		}
	}
	return limits.Total
}

// resets are the values of limit_reset, and periods what they mean.
var (
	resets  = []string{"daily", "weekly", "monthly"}
	periods = []limits.Period{limits.Daily, limits.Weekly, limits.Monthly}
)

// Usage returns the subject whose balances say what the key has spent by day, week and month and in
// all, in this order. Every key is counted in all four, so that the period of its limit can change.
func (r *Record) Usage() limits.Subject {
	return limits.Subject{Name: r.Subject(), Budgets: counted[:]}
}

// Remaining returns what is left of the key's limit, in nano-USD, at least 0. Spent has the balances of
// Usage.
func (r *Record) Remaining(spent []limits.Balance) int64 {
	b := spent[r.Period()-limits.Daily]
	b.Budget.Limit = *r.Limit
	return b.Remaining()
}

var counted = [...]limits.Budget{
	{Unit: limits.Money, Period: limits.Daily, Limit: limits.NoLimit},
	{Unit: limits.Money, Period: limits.Weekly, Limit: limits.NoLimit},
	{Unit: limits.Money, Period: limits.Monthly, Limit: limits.NoLimit},
	{Unit: limits.Money, Period: limits.Total, Limit: limits.NoLimit},
}
