package detect_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
)

// finds checks what a detector finds in each text: the part between ⟦ and ⟧, and nothing else.
func finds(t *testing.T, detector *detect.Detector, texts ...string) {
	t.Helper()
	set := redacting(usualWindow, detector)
	for _, marked := range texts {
		want, text := "", strings.NewReplacer("⟦", "", "⟧", "").Replace(marked)
		for rest := marked; rest != ""; {
			before, inside, _ := strings.Cut(rest, "⟦")
			want += before
			if _, after, ok := strings.Cut(inside, "⟧"); ok {
				want += mark
				rest = after
			} else {
				rest = ""
			}
		}
		if got := set.whole(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestEmailAddressesAreFound(t *testing.T) {
	finds(t, must(detect.Email()),
		"⟦a@b.de⟧", "to ⟦jane.doe+tag@mail.example.co.uk⟧.", "<⟦x_y%z@a-b.example⟧>", "mailto:⟦a@b.example⟧?subject=x",
		"'⟦a@b.example⟧'", "⟦a@xn--bcher-kva.example⟧", "⟦a@b.xn--p1ai⟧ ok", "⟦a@b.de⟧,⟦c@d.de⟧", "o'⟦brien@b.example⟧",
		"a@b", "@b.de", "a@.de", "a@-b.de", "a@b-.de", "a b.de", "a@b.1", "a..⟦b@c.de⟧", "a.@b.de", "user@localhost", "x @ y.de",
	)
}

func TestCardNumbersAreFound(t *testing.T) {
	finds(t, must(detect.Card()),
		"⟦4111111111111111⟧", "Visa ⟦4111 1111 1111 1111⟧, ⟦4111-1111-1111-1111⟧.", "⟦4222222222222⟧", "⟦378282246310005⟧", "⟦3782 822463 10005⟧",
		"⟦5555555555554444⟧", "⟦2223003122003222⟧", "⟦6011111111111117⟧", "⟦30569309025904⟧", "⟦3530111333300000⟧", "⟦6212345678900000003⟧",
		"12 ⟦4111 1111 1111 1111⟧ 123", "1234 ⟦4111 1111 1111 1111⟧ 1234", "(⟦4111111111111111⟧)", "no.:⟦4111111111111111⟧", "⟦4111\u00a01111\u00a01111\u00a01111⟧",
		"⟦4111\u20111111\u20111111\u20111111⟧", "⟦4111\u202f1111\u202f1111\u202f1111⟧", "⟦4111–1111–1111–1111⟧", "⟦4111\u30001111\u30001111\u30001111⟧",
		"⟦4111−1111—1111 1111⟧", "1.⟦4111 1111 1111 1111⟧", "1. ⟦4111111111111111⟧", "card_⟦4111111111111111⟧_x", "⟦４１１１１１１１１１１１１１１１⟧",
		"⟦41\u200b11 \u20601111 1111 1111⟧\u200b", "⟦4111111111111111⟧.50", "x 4111\u00ad1111\u00ad1111\u00ad1112",
		"4111111111111112", "41111111111111111", "4111 1111 1111 x 1111", "1111111111111117", "0.4111111111111111", "id4111111111111111", "4111111111111111a",
		"x4111111111111111", "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", "4111/1111/1111/1111", "0000000000000000", "99994111111111111111",
	)
}

// Card numbers in groups have one blank or dash between two. Numbers in a table are separated by
// more than that, or by a line end.
func TestColumnsOfNumbersAreNoCards(t *testing.T) {
	var texts []string
	for _, divider := range []string{"\n", "\r\n", "\n\n", "\t", "\v", "\u2028", "  ", " \t", "\n ", ".", ". ", ", ", ",", ";", "|", " | ", " - ", " -", "--"} {
		texts = append(texts, strings.Join([]string{"4111", "1111", "1111", "1111"}, divider), strings.Join([]string{"41111111", "11111111"}, divider))
	}
	finds(t, must(detect.Card()), append(texts,
		"411.111 111.111 111.111 111.111", "41.11111111 111111.11", "0.411111111 1111111", "1763700000.411111 1111111111",
		"41:11:11 11:11:11 11:11", "4111-11-11 11:11:11 1111", "4111\t1111\t1111\t1111\n4111\t1111\t1111\t1111\n", "4111,1111,1111,1111\n4111,1111,1111,1111\n",
		"(411) 111-1111\n(111) 111-1111", "-4111 -1111 -1111 -1111",
	)...)
}

func TestWordsAreFoundWholeInAnyCase(t *testing.T) {
	words := []string{"secret", "Project X", "straße", "c++", "東京", "na\u0131ve", "ΣΊΣΥΦΟΣ", "-"}
	finds(t, must(detect.Words(words)),
		"a ⟦secret⟧.", "⟦SECRET⟧", "⟦\u017fecret⟧", "secrets", "topsecret", "secret_key", "secret1", "«⟦secret⟧»", "⟦secret⟧⟦-⟧⟦secret⟧",
		"⟦project x⟧", "⟦Project\n\t X⟧!", "project xy", "my ⟦project X⟧", "projectx", "⟦STRAßE⟧", "⟦STRA\u1e9eE⟧", "strasse",
		"⟦C++⟧", "⟦c++⟧⟦-⟧", "⟦c++⟧11", "xc++", "in⟦東京⟧都", "secret\u0301", "⟦σίσυφος⟧", "éxsecret", "secreté",
	)
}

func TestWordsAreFoundHoweverTheyAreSpelled(t *testing.T) {
	words := []string{"café", "cafe\u0301 noir", "forbidden", "ｆｕｌｌ", "が", "㎏", "so\u00adft", "tm", "5"}
	finds(t, must(detect.Words(words)),
		"⟦cafe\u0301⟧", "⟦CAFÉ⟧", "⟦Café noir⟧", "cafe", "cafes\u0301", "⟦café⟧\u200b\ufe0f", "café\u0327",
		"⟦for\u00adbidden⟧", "⟦f\u200bor\u2060bidden⟧\u200d.", "\ufeff⟦forbidden⟧", "⟦forbidden⟧\ufe0f", "⟦ｆorbidden⟧", "⟦𝐟𝐨𝐫𝐛𝐢𝐝𝐝𝐞𝐧⟧", "⟦forbidden⟧¹", "⟦forbidden⟧™", "x\u00adforbidden",
		"⟦full⟧", "⟦が⟧っこう", "⟦か\u3099⟧", "か", "⟦5⟧ ⟦kg⟧", "⟦soft⟧", "⟦™⟧", "x™", "5kg", "½", "⁵x", "⟦5⟧´",
	)
}

func TestSecretsAreFound(t *testing.T) {
	finds(t, must(detect.Secrets()),
		"AWS: ⟦AKIAQYLPMN5HHHFPZAM2⟧ here", "export GITHUB=⟦ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8⟧\n",
		"my api_key = \"⟦8f3bKq2LmZx91Rtw5Vy7⟧\"", "they say hey, the key is under the mat and the token is lost",
		"AKIAIOSFODNN7EXAMPLE", "commit 5d41402abc4b2a76b9719d911017c592aabbccdd", "password = changeme", "api_key = abcdefghij",
	)
}
