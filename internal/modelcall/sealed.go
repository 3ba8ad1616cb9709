package modelcall

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// sealed is what a request has of earlier answers that only the target can read that wrote it:
// encrypted reasoning, signed thinking. If the name in the request leads to several targets, the one
// that wrote the newest part is asked first, unless it is cooling, and each gets only its own parts.
type sealed struct {
	deps      *Deps
	requestID string
	target    *target // for which the request is written

	several bool              // the name leads to several targets
	makers  map[string]string // targets by the key of what they wrote; nil for none
	newest  string            // the target that wrote the newest part; "" if it is not known
}

const (
	// maxSealed is how many parts of a request are looked up, the newest, and how many of an answer
	// are recorded. The rest counts as written elsewhere.
	maxSealed = 256

	// sealedAccount and sealedKind are where the owners of parts are kept: such an owner is the id of
	// a target. No account has this name.
	sealedAccount, sealedKind = "", "reasoning"
)

// sealedKey names a part by its content, which may be long.
func sealedKey(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:16])
}

// read finds out which targets wrote the parts of the request.
func (s *sealed) read(ctx context.Context, b *jsonscan.Body) {
	if !s.several {
		return
	}
	var keys []string
	params.EachSealed(b, func(part params.Sealed) {
		elements, ok := translate.UnwrapReasoning(part.Content)
		if !ok {
			keys = append(keys, sealedKey(part.Content))
			return
		}
		list := slices.Concat([]byte{'['}, elements, []byte{']'})
		params.EachDetail(list, func(part params.Sealed) { keys = append(keys, sealedKey(part.Content)) })
	})
	if len(keys) == 0 {
		return
	}
	keys = keys[max(0, len(keys)-maxSealed):]
	makers, err := s.deps.Owners.Find(ctx, sealedKind, sealedAccount, keys)
	if err != nil { // the call is possible without its reasoning
		s.deps.Sampled().Warn("who wrote the reasoning of a request cannot be looked up", zap.String("request_id", s.requestID), zap.Error(err))
	}
	s.makers = makers
	for _, key := range keys {
		if maker := makers[key]; maker != "" {
			s.newest = maker
		}
	}
}

// recorder returns what notes that a target wrote parts of an answer; nil if nobody will ask.
func (s *sealed) recorder(t *target) func(content string) {
	if !s.several {
		return nil
	}
	left := maxSealed
	return func(content string) {
		if left--; left < 0 {
			return
		}
		if err := s.deps.Owners.Record(sealedKind, sealedAccount, sealedKey(content), t.id); err != nil {
			s.deps.Sampled().Warn("the target that wrote reasoning was not recorded", zap.String("request_id", s.requestID), zap.Error(err))
		}
	}
}

// leaveOut has a function of package params drop the parts that the target cannot read. It fails if
// one is needed that another target wrote. A needed part that was written elsewhere stays: the
// provider knows better.
func (s *sealed) leaveOut(b *jsonscan.Body, drop func(*jsonscan.Body, func(params.Sealed) bool)) (err error) {
	t := s.target
	drop(b, func(part params.Sealed) bool {
		if part.Content == "" {
			return t.signs()
		}
		if strings.HasPrefix(part.Content, translate.WrappedPrefix) {
			return true
		}
		if !s.several {
			return false
		}
		switch maker := s.makers[sealedKey(part.Content)]; {
		case maker == t.id:
			return false
		case !part.Needed:
			return true
		case maker != "":
			err = apierror.New(apierror.InvalidValue, "the conversation has reasoning of %q, without which it cannot go on and which %q cannot read", maker, t.id)
		}
		return false
	})
	return err
}

// LeaveOutItems implements [wire.Sealed].
func (s *sealed) LeaveOutItems(b *jsonscan.Body) error {
	if s.several || params.MayHaveEncrypted(b, translate.WrappedPrefix) {
		return s.leaveOut(b, params.DropSealedItems)
	}
	return nil
}

// LeaveOutThinking implements [wire.Sealed].
func (s *sealed) LeaveOutThinking(b *jsonscan.Body) error {
	if s.several || s.target.signs() && params.MayHaveUnsigned(b) {
		return s.leaveOut(b, params.DropThinking)
	}
	return nil
}

// signs reports whether the model refuses thinking without its signature. Others of the Messages API
// may need theirs back, and sign nothing.
func (t *target) signs() bool { return strings.Contains(t.model.Name, "claude") }
