package wire

import (
	"strings"
	"testing"
)

func TestATranslatedResponseIsNamedAfterItsRequest(t *testing.T) {
	ids := IDs{"req_12ab", 7}
	if id := ids.NewID("resp"); id != "resp_12ab" || ids.Unix() != 7 {
		t.Errorf("%s at %d", id, ids.Unix())
	}
	if a, b := ids.NewID("msg"), ids.NewID("msg"); a == b || !strings.HasPrefix(a, "msg_") || strings.ToLower(a) != a {
		t.Errorf("%s and %s", a, b)
	}
	if id := ids.message(); id != "msg_12ab" {
		t.Errorf("the message is %s", id)
	}
	for _, id := range []string{"resp_12ab", "msg_12ab"} {
		if request, ok := RequestOf(id); !ok || request != "req_12ab" {
			t.Errorf("%s: %s, %v", id, request, ok)
		}
	}
	if _, ok := RequestOf("chatcmpl-1"); ok {
		t.Error("another id names a request")
	}
}

func TestAnOperationThatIsPaidKnowsItsFields(t *testing.T) {
	for _, o := range []*Operation{
		Chat, Responses, Messages, CountTokens, InputTokens, Compact, Embeddings, Rerank, Moderations, Completions, Images, RouterImages,
		ImageEdits, Speech, Transcriptions, Translations, GenerateContent, CountContent, EmbedContent, BatchEmbedContents,
	} {
		if (o.Content == nil) != (o.Fields == nil) || (o.Form == nil) != (o.Files == nil) {
			t.Errorf("%s: %d fields, %d files", o.Name, len(o.Fields), len(o.Files))
		}
	}
}
