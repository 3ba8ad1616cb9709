package rfb_test

import (
	"encoding/hex"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// The first is the textbook's DES example, its key with the bits of each byte reversed. The second
// is what VNC servers keep in their password files for "password", encrypted with a key that all of
// them know.
func TestTheResponseIsDESWithReversedKeyBits(t *testing.T) {
	for _, test := range []struct{ challenge, password, want string }{
		{"0123456789abcdef", "\xc8\x2c\xea\x9e\xd9\x3d\xfb\x8f", "85e813540f0ab405"},
		{hex.EncodeToString([]byte("password")), "\x17\x52\x6b\x06\x23\x4e\x58\x07", "dbd83cfd727a1458"},
	} {
		half, _ := hex.DecodeString(test.challenge)
		response, err := rfb.RespondVNC([16]byte(append(half, half...)), test.password)
		if got := hex.EncodeToString(response[:]); got != test.want+test.want || err != nil {
			t.Errorf("%s, %v, want %s twice", got, err, test.want)
		}
	}
}

func TestOnlyTheRightPasswordVerifies(t *testing.T) {
	response, err := rfb.RespondVNC(challenge, "abcdefgh")
	if err != nil {
		t.Fatal(err)
	}
	for password, want := range map[string]bool{
		"abcdefgh": true, "abcdefghijkl": true, "abcdefg": false, "Abcdefgh": false, "": false, "abcdefg\x00": false,
	} {
		if rfb.VerifyVNC(challenge, response, password) != want {
			t.Errorf("%q: %v", password, !want)
		}
	}
	other := challenge
	other[15]++
	if rfb.VerifyVNC(other, response, "abcdefgh") {
		t.Error("the response fits another challenge")
	}
	response[15]++
	if rfb.VerifyVNC(challenge, response, "abcdefgh") {
		t.Error("half a response is enough")
	}
	short, _ := rfb.RespondVNC(challenge, "abc")
	if !rfb.VerifyVNC(challenge, short, "abc\x00\x00") {
		t.Error("a short password is not filled up with zeros")
	}
}

func TestLabelsAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for k := rfb.KindOther; k <= rfb.KindMessage; k++ {
		if name := k.String(); name == "" || seen[name] {
			t.Errorf("kind %d is %q", k, name)
		}
		seen[k.String()] = true
	}
	if rfb.Kind(200).String() != "other" || rfb.Security(200).String() != "unknown" || rfb.SubType(257).String() != "257" {
		t.Error("what is not known has a name")
	}
}
