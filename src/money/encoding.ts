export type Encoding = 'o200k_base' | 'cl100k_base';
