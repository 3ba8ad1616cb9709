package runtimekeys_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
)

func TestKeysAreFoundByNameAndHash(t *testing.T) {
	s, _ := open(t, &memory{})
	ada, _ := create(t, s, block(nil), `{"name":"Ada Lovelace"}`)
	grace, _ := create(t, s, block(nil), `{"name":"Grace (CI)"}`)
	for search, want := range map[string]*runtimekeys.Key{
		"love": ada, "ci)": grace, grace.Hash()[:12]: grace, ada.Hash(): ada, "nobody": nil, ada.Hash()[1:20]: nil,
	} {
		found := s.List(acme, runtimekeys.Query{Search: search})
		if want == nil && len(found) != 0 || want != nil && (len(found) != 1 || found[0] != want) {
			t.Errorf("%q finds %v", search, found)
		}
	}
	if all := s.List(acme, runtimekeys.Query{}); len(all) != 2 {
		t.Errorf("%d keys without a search", len(all))
	}
	if second := s.List(acme, runtimekeys.Query{Search: "a", Offset: 1}); len(second) != 1 || second[0] != ada {
		t.Errorf("the second that is found is %v", second)
	}
}
