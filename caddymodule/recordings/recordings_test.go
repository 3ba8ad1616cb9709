package recordings

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"
	"go.uber.org/zap"
)

func TestTheFileOfAgeKeygenIsTakenAndOnlyItsKeyIsASecret(t *testing.T) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("RECORD_TEST", fmt.Sprintf("# created: 2026-11-24T13:40:43Z\n# public key: %s\n%s\n", id.Recipient(), id))
	r := &Record{Recipients: []string{id.Recipient().String()}, ReplayIdentity: "{env.RECORD_TEST}"}
	s, secrets, err := r.build(zap.NewNop(), t.TempDir())
	if err != nil || len(s.Identities) != 1 || !slices.Equal(secrets, []string{id.String()}) {
		t.Errorf("%v, %d secrets, %v", s, len(secrets), err)
	}
}

func TestAPrivateKeyInTheWrongPlaceIsInNoError(t *testing.T) {
	const planted = "AGE-SECRET-KEY-1PLANTED"
	t.Setenv("RECORD_TEST", planted)
	public := []string{"age1r4rctdt5g8ql9970geex6j4du268zltydnuqpzavzmz28uuq7dpsy5fqvz"}
	for want, r := range map[string]*Record{
		"want a recipient":           {},
		"want the public one":        {Recipients: []string{planted}},
		"the file that age-keygen":   {Recipients: public, ReplayIdentity: "{env.RECORD_TEST}"},
		"{file./etc/gatehouse/audit": {Recipients: public, ReplayIdentity: "planted-auditor.key"},
	} {
		_, _, err := r.build(zap.NewNop(), t.TempDir())
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(strings.ToUpper(err.Error()), "PLANTED") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// What is recorded could never be replayed, which nobody would see before it is needed.
func TestAReplayIdentityMustBeOfARecipient(t *testing.T) {
	key := func() *age.X25519Identity {
		id, err := age.GenerateX25519Identity()
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	auditor, replays, older := key(), key(), key()
	for identities, wrong := range map[string]bool{
		older.String():                           true,
		older.String() + "\n" + key().String():   true,
		replays.String():                         false,
		older.String() + "\n" + replays.String(): false,
	} {
		t.Setenv("RECORD_TEST", identities)
		r := &Record{Recipients: []string{auditor.Recipient().String(), replays.Recipient().String()}, ReplayIdentity: "{env.RECORD_TEST}"}
		s, _, err := r.build(zap.NewNop(), t.TempDir())
		if wrong != (err != nil) || wrong && !strings.Contains(err.Error(), "the private key of no recipient") || !wrong && len(s.Identities) == 0 {
			t.Errorf("%d keys: %v", strings.Count(identities, "AGE-"), err)
		}
	}
}
