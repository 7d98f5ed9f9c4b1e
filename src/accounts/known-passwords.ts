import { hash } from 'node:crypto';

const SHOWN_DIGITS = 10;

/**
 * The beginnings of the SHA-256 of passwords with at least twelve characters that are among the most common ones, in
 * lower case. Shorter ones are refused anyway. Hashes, because the words themselves are not fit to print.
 */
const COMMON = new Set(
  `
02f51482f5 04959fa881 04dbdd177b 051925d03f 0534141524 0596049211 0711a8d20a 09fba7943e 0a67248b9a 0b1dbff271
0de05e45b9 14bbe3f726 151add3e59 17417ebfe0 1747a57dda 194828bdf8 1c312dd642 1cee46ed54 1de620b82e 1e3bb89475
21aa9e5a7b 22f59479ff 23ce07fe87 260f52e6c3 26d901ca0b 2943a567bc 2a47d7afbf 2a628b4593 2c402093f5 2c7949dca4
2efa77adaf 2f5f6ce5ae 30dbc9ec72 319bae28fe 347c9a3a91 34dce12a3e 35b6d0aaaa 35f91566a6 369a76308f 36aa15a88e
3700adf1f2 395f291073 39bd13046f 3a5745a05f 3f5c0b5f9c 404ade22ac 40f598cc76 415250fc05 4194d1706e 41d02f3bf7
41fbeb46f1 4346ff92f5 439087482d 43a530eb1e 445dec4377 44ce673c0f 46a281cd35 4922b0b6b5 4974ebf7b8 4abac16e5d
4bc83e0b54 50bfee49c7 567a7f1185 58baa3c54a 58c6b1d326 59f271f630 5d56da4fac 5d5a70a2d7 5e4ff8ebb5 5f3b3b6149
5fd6055c04 5ffed2e1bd 60c8bb6d89 6265db0c8c 63c978ce1a 68c4169653 697455ec4d 6ae217164a 6ed645ef0e 6fd22e41a8
6fe132b2ca 70e448ef30 74af1ea2ef 74db68115d 765ad9f4c7 767fc64ce3 793ac1bd1d 7a7adbec66 7fd06f0e2a 816a209b39
8235c034a4 84947e43bc 84ebc1bac7 8907a499b5 89b00a2edf 8bf4dec545 8c5cae7c0d 8d2cc398c7 9253229b47 925b13a7ef
958d51602b 972ad1a13d 99a58605de 9bbfcb43d5 9f89d5f524 9ff804944f a18ac4e6fb a1ca9ff8ee a2456ff061 a4b59a393b
a4dd5658ec a5d82ffc3b a662c9516f a68bf3b2fe a91f0cc24f a92cadae89 abc486d83a ad9b0702bc b0256f0ef4 b108fdf8c7
b10e642780 b382822578 b4bb7f236a b5467254f3 b5867a2a76 b68c880608 b822bb9390 b8b2304b21 b8da82a495 b9c950640e
bca2b41a2b bfae1b3087 c127f7aaa5 c1b59ba0c5 c2bc829f29 c402d13b4a c4bebe78f3 c5a2c0a2c9 c5c088132e c6b3e5102f
c7e402258e c85f67ba80 c8c38b9c87 c9034e49af c93e67a175 c95cf93639 cb55ca55bc cb5e0fac75 cca918434d ccf8080143
cd340d1a5c ce6428728f d1c48584ce d3447652bb d606d6378e d686ba024a d84a9a6b2b d8aafc4b84 da25acfb4c db1df26aed
dbdcf01bf5 dc3c355966 dca21ba951 e4005e2c15 e46b70d330 e5cc3e02f5 e8f1ad2bde e9fe2cda28 ec71a57e47 ecef7b1e64
ed100d9886 eda9bfb9d5 eee9c6e190 f09b64fb8a f0aa9910eb f384c0e4f8 f7b11509f4 f86c4d102e f941f557ee f9b008161b
fa7053c922 fc4aac7dc1
`
    .trim()
    .split(/\s+/),
);

export function isCommonPassword(password: string): boolean {
  return COMMON.has(hash('sha256', password.toLowerCase()).slice(0, SHOWN_DIGITS));
}
