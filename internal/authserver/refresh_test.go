package authserver

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"
)

// overtaken is an identity provider that another gateway asks first.
type overtaken struct {
	*idp
	by func()
}

func (o *overtaken) Again(ctx context.Context, p Person, refresh string) (Person, string, error) {
	o.by()
	return o.idp.Again(ctx, p, refresh)
}

func TestRefreshesAtTwoGatewaysAtOnceAreBothGood(t *testing.T) {
	b := start(t)
	_, refresh := b.signIn()
	state := NewState(func() time.Time { return b.at })
	if err := state.Open(t.Context(), b.state.opened()); err != nil {
		t.Fatal(err)
	}
	var first answer
	failing := false
	other := *b
	other.Server = b.With(state, &overtaken{b.idp, func() {
		if b.idp.moved = failing; failing {
			b.idp.refused = fmt.Errorf("%w: it does not answer", ErrUnavailable)
		}
		first = b.renew(refresh)
		b.idp.refused = nil
	}}, b.logger)
	second := other.renew(refresh)
	b.want(first, 200, "")
	b.want(second, 200, "")
	for _, a := range []answer{first, second} {
		if !b.good(a.text("access_token")) || !other.good(a.text("access_token")) {
			t.Error("a token that was given out is not good")
		}
	}
	refresh, failing = second.text("refresh_token"), true
	b.want(other.renew(refresh), 503, unavailable) // nobody knows whether the person may come
	b.want(b.renew(refresh), 200, "")
}

func TestManyProcessesRefreshAtOnceAndNoneIsSignedOut(t *testing.T) {
	b := start(t)
	_, refresh := b.signIn()
	first := b.renew(refresh)
	for range maxTokens - 1 {
		b.want(b.renew(refresh), 200, "")
	}
	a := b.renew(refresh)
	b.want(a, http.StatusTooManyRequests, slowDown)
	if a.Header().Get("Retry-After") != "1" {
		t.Error(a.Header())
	}
	b.want(b.renew(first.text("refresh_token")), 200, "")
}
