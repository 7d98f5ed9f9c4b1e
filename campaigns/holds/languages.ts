/** The same short story in twenty languages and twelve scripts. */
export const STORIES: Readonly<Record<string, { readonly tag: string; readonly story: string }>> = {
  English: {
    tag: 'en',
    story:
      'The ferry leaves at six in the morning. If the wind is strong, the harbour master closes the gate and everybody waits.',
  },
  German: {
    tag: 'de',
    story:
      'Die Fähre fährt um sechs Uhr morgens ab. Bei starkem Wind schließt der Hafenmeister die Schranke, und alle müssen warten.',
  },
  French: {
    tag: 'fr',
    story:
      'Le bac part à six heures du matin. Si le vent est fort, le maître du port ferme la barrière et tout le monde attend.',
  },
  Spanish: {
    tag: 'es',
    story:
      'El transbordador sale a las seis de la mañana. Si el viento es fuerte, el capitán del puerto cierra la barrera y todos esperan.',
  },
  Portuguese: {
    tag: 'pt',
    story:
      'A balsa sai às seis da manhã. Se o vento for forte, o capitão do porto fecha a cancela e toda a gente espera.',
  },
  Italian: {
    tag: 'it',
    story:
      'Il traghetto parte alle sei del mattino. Se il vento è forte, il capitano del porto chiude la sbarra e tutti aspettano.',
  },
  Polish: {
    tag: 'pl',
    story: 'Prom odpływa o szóstej rano. Gdy wieje silny wiatr, kapitan portu zamyka szlaban i wszyscy muszą czekać.',
  },
  Czech: {
    tag: 'cs',
    story: 'Přívoz odjíždí v šest hodin ráno. Když fouká silný vítr, správce přístavu zavře závoru a všichni čekají.',
  },
  Turkish: {
    tag: 'tr',
    story: 'Feribot sabah altıda kalkıyor. Rüzgâr güçlüyse liman başkanı kapıyı kapatır ve herkes bekler.',
  },
  Vietnamese: {
    tag: 'vi',
    story:
      'Chuyến phà khởi hành lúc sáu giờ sáng. Nếu gió mạnh, người quản lý bến cảng đóng cổng và mọi người phải chờ.',
  },
  Indonesian: {
    tag: 'id',
    story:
      'Feri berangkat pukul enam pagi. Jika angin kencang, kepala pelabuhan menutup gerbang dan semua orang menunggu.',
  },
  Russian: {
    tag: 'ru',
    story: 'Паром отходит в шесть часов утра. Если ветер сильный, начальник порта закрывает ворота, и все ждут.',
  },
  Ukrainian: {
    tag: 'uk',
    story: 'Пором відходить о шостій ранку. Якщо вітер сильний, начальник порту зачиняє браму, і всі чекають.',
  },
  Greek: {
    tag: 'el',
    story:
      'Το πλοίο φεύγει στις έξι το πρωί. Αν ο άνεμος είναι δυνατός, ο λιμενάρχης κλείνει την πύλη και όλοι περιμένουν.',
  },
  Hebrew: {
    tag: 'he',
    story: 'המעבורת יוצאת בשש בבוקר. אם הרוח חזקה, מנהל הנמל סוגר את השער וכולם מחכים.',
  },
  Arabic: {
    tag: 'ar',
    story: 'تغادر العبّارة في السادسة صباحًا. إذا كانت الريح قوية يغلق مدير الميناء البوابة وينتظر الجميع.',
  },
  Hindi: {
    tag: 'hi',
    story: 'नाव सुबह छह बजे निकलती है। अगर हवा तेज़ हो तो बंदरगाह का अधिकारी फाटक बंद कर देता है और सब लोग इंतज़ार करते हैं।',
  },
  Thai: {
    tag: 'th',
    story: 'เรือข้ามฟากออกเวลาหกโมงเช้า ถ้าลมแรง นายท่าจะปิดประตูและทุกคนต้องรอ',
  },
  Chinese: {
    tag: 'zh',
    story: '渡轮早上六点出发。如果风很大，港务长就会关上闸门，大家都得等着。',
  },
  Japanese: {
    tag: 'ja',
    story: 'フェリーは朝六時に出発します。風が強いときは港長がゲートを閉め、みんなが待ちます。',
  },
  Korean: {
    tag: 'ko',
    story: '페리는 아침 여섯 시에 출발합니다. 바람이 강하면 항만장이 문을 닫고 모두가 기다립니다.',
  },
};
