package rfb

import (
	"crypto/des"
	"crypto/subtle"
	"math/bits"
)

// VNC Authentication (RFC 6143, section 7.2.2):
//
//	server                          client
//	16 bytes challenge      ->
//	                        <-      16 bytes response
//
// The response is the challenge, each half encrypted with DES under the password: its first 8
// bytes, filled up with zeros, each with its bits in reverse order. It does not protect the
// password: anybody who listens finds it within an hour.
const (
	challengeLen   = 16
	vncPasswordLen = 8
)

// RespondVNC returns the response to a challenge. Of the password, the first 8 bytes count. The
// error is of a process in which DES is forbidden (FIPS 140 mode).
func RespondVNC(challenge [16]byte, password string) (response [16]byte, err error) {
	var key [vncPasswordLen]byte
	copy(key[:], password)
	for i := range key {
		key[i] = bits.Reverse8(key[i])
	}
	block, err := des.NewCipher(key[:])
	if err != nil {
		return response, &Error{Kind: KindOther, Step: "answering the VNC challenge", Err: err}
	}
	for at := 0; at < challengeLen; at += des.BlockSize {
		block.Encrypt(response[at:], challenge[at:])
	}
	return response, nil
}

// VerifyVNC reports whether response answers challenge under password. The time it takes does not
// depend on how much of the response is right.
func VerifyVNC(challenge, response [16]byte, password string) bool {
	want, err := RespondVNC(challenge, password)
	return err == nil && subtle.ConstantTimeCompare(want[:], response[:]) == 1
}
