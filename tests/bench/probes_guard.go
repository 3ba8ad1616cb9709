//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
)

func probeDenyRequest(ctx context.Context, p *prober) error {
	a, err := p.post(ctx, modelWhole, saying("my token is "+canarySecret()))
	return refused(a, err, http.StatusUnprocessableEntity, "guardrail_blocked")
}

func probeDenyAnswer(ctx context.Context, p *prober) error {
	a, err := p.post(ctx, modelLeak, saying("tell"))
	if err := refused(a, err, http.StatusUnprocessableEntity, "guardrail_blocked"); err != nil {
		return err
	}
	a, err = p.post(ctx, modelLeak, saying("tell")+`,"stream":true`)
	switch {
	case err != nil:
		return err
	case bytes.Contains(a.body, []byte("ghp_")):
		return fmt.Errorf("a stream tells it: %q", shorten(a.body))
	case !bytes.Contains(a.body, []byte("guardrail_blocked")):
		return fmt.Errorf("a stream is not refused: %q", shorten(a.body))
	}
	return nil
}

func probeRedact(ctx context.Context, p *prober) error {
	for _, stream := range []string{"", `,"stream":true`} {
		a, err := p.post(ctx, modelMasked, saying("from "+canaryAddress)+stream)
		if err != nil {
			return err
		}
		if a.status != http.StatusOK {
			return fmt.Errorf("status %d: %q", a.status, shorten(a.body))
		}
		said := string(a.body)
		if !strings.Contains(said, maskedAddress) || !strings.Contains(said, maskedCard) || strings.Contains(said, canaryCard[:4]) {
			return fmt.Errorf("the answer is %q", said)
		}
	}
	return nil
}
