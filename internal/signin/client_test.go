package signin

import (
	"errors"
	"testing"

	"golang.org/x/oauth2"

	"github.com/gatehouse-proxy/gatehouse/internal/identity"
)

func TestCodesWithoutRoomAreRefusedAtOnce(t *testing.T) {
	c := &client{turns: turns{codes: make(chan struct{}, 1), finishing: make(chan struct{})}}
	if _, err := c.exchange(t.Context(), nil, "", "code", ""); !errors.Is(err, ErrUnavailable) {
		t.Errorf("%v", err)
	}
}

// It never will: who it was signs in again.
func TestAProviderThatNamesNobodyAgain(t *testing.T) {
	if _, _, err := new(client).person(t.Context(), &identity.Discovered{}, &oauth2.Token{}, ""); !errors.Is(err, ErrGone) {
		t.Errorf("%v", err)
	}
}
